import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.ids import is_run_id, new_run_id

pytestmark = pytest.mark.requirement("ids:run:ulid")


def test_a_new_id_is_an_id_and_no_two_are_equal():
    ids = [new_run_id() for _ in range(1000)]
    assert all(map(is_run_id, ids))
    assert len(set(ids)) == 1000


def test_ids_sort_by_time(monkeypatch):
    moments = [0, 1_000_000, 2_000_000, 1_700_000_000_000_000_000, (2**48 - 1) * 1_000_000]
    ids = []
    for moment in moments:
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment)
        ids.append(new_run_id())
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "01M8NRBM87W11GJZ0YQ1CZACZ",
        "01M8NRBM87W11GJZ0YQ1CZACZVV",
        "01M8NRBM87W11GJZ0YQ1CZACZV\n",
        "81M8NRBM87W11GJZ0YQ1CZACZV",
        "01m8nrbm87w11gjz0yq1czaczv",
        "01M8NRBM87W11GJZ0YQ1CZACZI",
        "../../../../../../../../etc",
    ],
)
def test_what_is_no_id_is_refused(text):
    assert not is_run_id(text)


@given(st.text())
def test_an_id_never_leads_out_of_its_folder(text):
    assert not is_run_id(text) or text.isalnum()
