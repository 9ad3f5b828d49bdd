import json
import os

import pytest

from hornbook.errors import RuleError
from hornbook.rules import RuleLibrary, RuleRequest, ToolCategories, Vocabulary


@pytest.fixture
def library(make_rule):
    return RuleLibrary(
        [make_rule("b", tools=("refund",), error="arg"), make_rule("a", qualifier=("LATE",))],
        categories=ToolCategories({"refund": "PAYMENT"}),
        namespace="shop",
    )


@pytest.fixture
def saved(library, tmp_path):
    path = tmp_path / "rules.jsonl"
    library.save(path)
    return path


def edited(path, number, change):
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = json.dumps(change(json.loads(lines[number - 1])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load_error(path):
    with pytest.raises(RuleError) as caught:
        RuleLibrary.load(path)
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.requirement("rules:library:jsonl")
def test_a_library_goes_to_jsonl_and_comes_back_equal(library, saved):
    again = RuleLibrary.load(saved)
    assert again == library
    assert again.digest == library.digest
    assert again.namespace == "shop"
    assert [rule.id for rule in again] == ["a", "b"]


@pytest.mark.requirement("rules:library:jsonl")
def test_the_same_rules_in_any_order_give_the_same_bytes(library, saved, tmp_path):
    other = RuleLibrary(
        reversed(library.rules),
        vocabulary=library.vocabulary,
        categories=library.categories,
        namespace="shop",
    )
    other.save(tmp_path / "other.jsonl")
    assert (tmp_path / "other.jsonl").read_bytes() == saved.read_bytes()


@pytest.mark.requirement("rules:library:jsonl")
def test_saving_leaves_no_other_file_and_a_failed_save_leaves_the_old_one(
    library, saved, monkeypatch
):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RuleError) as caught:
        RuleLibrary().save(saved)
    assert str(caught.value) == f"{saved}: cannot be written: No space left on device"
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["rules.jsonl"]


@pytest.mark.requirement("rules:library:jsonl")
def test_an_empty_library_is_a_library(tmp_path):
    RuleLibrary().save(tmp_path / "none.jsonl")
    assert RuleLibrary.load(tmp_path / "none.jsonl") == RuleLibrary()


@pytest.mark.requirement("rules:library:bad-file")
def test_a_file_that_is_not_a_library_is_one_clear_error(tmp_path):
    path = tmp_path / "x.jsonl"
    assert load_error(path) == "FILE: cannot be read: No such file or directory"
    not_one = "FILE: not a rule library: no first line with format 'hornbook.rules'"
    path.write_text("", encoding="utf-8")
    assert load_error(path) == not_one
    path.write_text('{"format": "hornbook.trace"}\n', encoding="utf-8")
    assert load_error(path) == not_one
    path.write_text("[1, 2]\n", encoding="utf-8")
    assert load_error(path) == "FILE:1: not a JSON object"
    path.write_bytes(b"\xff\xfe{}\n")
    assert load_error(path) == "FILE:1: not UTF-8 text"


@pytest.mark.requirement("rules:library:bad-file")
def test_a_newer_version_is_one_clear_error(saved):
    edited(saved, 1, lambda header: header | {"version": 2})
    assert load_error(saved) == (
        "FILE:1: format version 2 is newer than 1, the newest this Hornbook reads"
    )


@pytest.mark.requirement("rules:library:bad-file")
def test_a_truncated_line_and_a_missing_line_are_found_out(saved):
    whole = saved.read_bytes()
    saved.write_bytes(whole[:-40])
    assert load_error(saved) == "FILE:3: the last line is cut short"
    saved.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert load_error(saved) == (
        "FILE: the header says 2 rules and the file holds 1: it was cut, "
        "or edited without its header"
    )


@pytest.mark.requirement("rules:library:bad-file")
def test_an_error_names_file_line_and_field(saved):
    before = saved.read_bytes()
    edited(saved, 2, lambda rule: rule | {"text": "Do it now, and do it twice."})
    assert load_error(saved) == (
        "FILE:2: text: 'Do it now, and do it twice.' is not of the form 'If ..., then ...'"
    )
    saved.write_bytes(before)
    edited(saved, 3, lambda rule: rule | {"id": "a"})
    assert load_error(saved) == "FILE:3: id: 'a' stands twice in the file"
    saved.write_bytes(before)
    edited(saved, 3, lambda rule: rule | {"symbolic": rule["symbolic"] | {"domain": "ORDER"}})
    assert load_error(saved) == (
        "FILE:3: symbolic: domain has no label 'ORDER' in the vocabulary; nearest: ORDERS"
    )
    saved.write_bytes(before)
    edited(saved, 1, lambda header: header | {"colour": "red"})
    assert load_error(saved) == "FILE:1: colour: unknown field"
    saved.write_bytes(before)
    edited(saved, 1, lambda header: header | {"categories": {"refund": "MONEY"}})
    assert load_error(saved) == (
        "FILE:1: symbolic: tool_category has no label 'MONEY' in the vocabulary; "
        "it has 1 labels, none near"
    )


@pytest.mark.requirement("rules:library:bad-file")
def test_a_key_given_twice_is_refused(saved):
    text = saved.read_text(encoding="utf-8").replace('"id":"a"', '"id":"a","id":"a"')
    saved.write_text(text, encoding="utf-8")
    assert load_error(saved).startswith("FILE:2: ")


@pytest.mark.requirement("rules:library:memory")
def test_a_library_refuses_two_rules_of_one_id(make_rule):
    with pytest.raises(RuleError) as caught:
        RuleLibrary([make_rule("a"), make_rule("b"), make_rule("a", domain="STOCK")])
    assert str(caught.value) == "rule 'a' stands twice in the library"


@pytest.mark.requirement("rules:form:vocabulary")
def test_a_library_refuses_labels_outside_its_vocabulary(make_rule):
    closed = Vocabulary(labels={"domain": ("STOCK",), "action": ("LOOK_UP_FIRST",)})
    with pytest.raises(RuleError) as caught:
        RuleLibrary([make_rule("a")], vocabulary=closed)
    assert str(caught.value) == (
        "rule 'a': symbolic: domain has no label 'ORDERS' in the vocabulary; "
        "it has 1 labels, none near"
    )


@pytest.mark.requirement("rules:library:memory")
def test_a_library_is_immutable(library):
    with pytest.raises(AttributeError) as caught:
        library.namespace = "other"
    assert str(caught.value) == "a RuleLibrary is immutable; 'namespace' cannot be set"


@pytest.mark.requirement("rules:library:memory")
def test_the_digest_follows_everything_that_decides_what_is_retrieved(library, make_rule):
    digests = {
        library.digest,
        RuleLibrary(library, categories=library.categories, namespace="other").digest,
        RuleLibrary(library, categories=ToolCategories({}), namespace="shop").digest,
        RuleLibrary([make_rule("a", status="shadow")], namespace="shop").digest,
        RuleLibrary([make_rule("a")], namespace="shop").digest,
    }
    assert len(digests) == 5


@pytest.mark.requirement("rules:library:namespace")
def test_a_library_answers_as_a_plugin_for_its_own_namespace_only(library):
    plugin = library.hook()
    mine = RuleRequest(namespace="shop", query="refund my late order", tools=("refund",))
    assert [rule.id for rule in plugin.hornbook_retrieve_rules(mine)] == ["a", "b"]
    for namespace in (None, "bank"):
        other = RuleRequest(namespace=namespace, query="refund", tools=("refund",))
        assert plugin.hornbook_retrieve_rules(other) is None


@pytest.mark.requirement("rules:library:namespace")
def test_a_library_without_a_namespace_is_no_plugin(make_rule):
    with pytest.raises(RuleError) as caught:
        RuleLibrary([make_rule("a")]).hook()
    assert str(caught.value) == (
        "a library answers as a plugin for one namespace; give it namespace=..."
    )


@pytest.mark.requirement("rules:library:namespace")
def test_a_request_of_another_namespace_gets_nothing(library):
    assert library.retrieve(RuleRequest(namespace="bank", query="a late order")) == ()
    assert [r.id for r in library.retrieve(RuleRequest(query="a late order"))] == ["a"]


@pytest.mark.requirement("rules:library:namespace")
def test_pluggy_takes_the_plugin_and_calls_it(library):
    import pluggy

    class Specs:
        @pluggy.HookspecMarker("hornbook")
        def hornbook_retrieve_rules(self, request): ...

    manager = pluggy.PluginManager("hornbook")
    manager.add_hookspecs(Specs)
    manager.register(library.hook())
    manager.check_pending()
    request = RuleRequest(namespace="shop", query="a late order")
    found = manager.hook.hornbook_retrieve_rules(request=request)
    assert [[rule.id for rule in rules] for rules in found] == [["a"]]
