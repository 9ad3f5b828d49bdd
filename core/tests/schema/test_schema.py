import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hornbook.errors import DefinitionError
from hornbook.schema import compile_schema, problems

pytestmark = pytest.mark.requirement("guard:arguments:ill-typed")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-4, 4),
    st.sampled_from([0.0, 1.0, 1.5, -2.5, 1e300]),
    st.sampled_from(["", "a", "ab", "abc", "A1", "x1"]),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "x1"]), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]


NAMES = st.sampled_from(["a", "b", "x1", "zz"])


def keywords(inner):
    """Each keyword of the subset, with what may stand after it."""
    return {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
        "enum": st.lists(values, max_size=3),
        "const": values,
        "minimum": st.integers(-3, 3),
        "maximum": st.integers(-3, 3),
        "exclusiveMinimum": st.sampled_from([-1, 0, 1.5]),
        "exclusiveMaximum": st.sampled_from([-1, 0, 1.5]),
        "multipleOf": st.sampled_from([1, 2, 3]),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "pattern": st.sampled_from(["a", "^a", "b$", "^[a-z]+$", "[0-9]", "^(a|A)[0-9]?$"]),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^x", "1$"]), inner, max_size=2),
        "additionalProperties": inner,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
        "format": st.just("date"),
        "unknownKeyword": st.just(1),
    }


def some_keywords(inner):
    known = keywords(inner)
    return st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: known[name] for name in names})
    )


simple = st.booleans() | st.builds(dict, type=st.sampled_from(TYPES))
schemas = some_keywords(some_keywords(some_keywords(simple) | simple) | simple)


def with_definitions(schema, one, two):
    root = dict(schema) if isinstance(schema, dict) else {"allOf": [schema]}
    return root | {"$defs": {"one": without_references(one), "two": without_references(two)}}


def without_references(schema):
    """References from definitions may go round in circles, where the oracle never returns."""
    if isinstance(schema, dict):
        return {key: without_references(item) for key, item in schema.items() if key != "$ref"}
    if isinstance(schema, list):
        return [without_references(item) for item in schema]
    return schema


@pytest.mark.requirement("guard:schema:oracle")
@settings(max_examples=200)
@given(st.builds(with_definitions, schemas, schemas, schemas), values)
def test_a_value_conforms_exactly_when_the_jsonschema_package_says_so(schema, value):
    ours = problems(schema, value)
    assert (not ours) == Draft202012Validator(schema).is_valid(value), ours


@pytest.mark.requirement("guard:schema:oracle")
@given(st.builds(with_definitions, schemas, schemas, schemas), values)
def test_every_problem_says_where_it_is_and_what_was_expected(schema, value):
    for problem in problems(schema, value):
        assert problem.path == "." or re.fullmatch(r"(\.?\w+|\[\d+\])+", problem.path)
        assert problem.expected
        assert problem.kind in ("type", "missing", "extra", "value", "depth")


@pytest.mark.requirement("bad-input:tool-schema:invalid")
@given(values | st.dictionaries(st.sampled_from(sorted(keywords(simple))), values, max_size=4))
def test_whatever_is_given_as_a_schema_is_compiled_or_refused(schema):
    try:
        compile_schema(schema).problems({"a": [1, "x"]})
        refusal = "at #"
    except DefinitionError as error:
        refusal = str(error)
    assert refusal.startswith("at #")
    assert len(refusal) < 300


def found(schema, value):
    return [
        (item.path, item.expected, item.observed, item.kind) for item in problems(schema, value)
    ]


ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^A"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "speed": {"enum": ["slow", "fast"]},
    },
    "required": ["id", "speed"],
    "additionalProperties": False,
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"price": {"type": "number", "minimum": 0}},
            "required": ["price"],
        }
    },
}


def test_problems_name_path_expectation_value_and_kind():
    order = {"id": "B1", "items": [{"price": 1}, {"price": -1}, {}], "note": 3, "colour": "red"}
    assert found(ORDER, order) == [
        ("speed", "one of 'slow', 'fast'", None, "missing"),
        ("id", "text that matches '^A'", "B1", "value"),
        ("items[1].price", "a number of at least 0", -1, "value"),
        ("items[2].price", "number", None, "missing"),
        ("note", "string or null", 3, "type"),
        ("colour", "only the fields id, items, note, speed", "red", "extra"),
    ]
    assert found(ORDER, {"id": "A1", "speed": "fast", "items": [{"price": 2}]}) == []


def test_a_wrong_type_is_one_problem_and_not_one_for_each_keyword():
    schema = {"type": "string", "minLength": 3, "pattern": "a", "enum": ["abc"]}
    assert found(schema, 7) == [(".", "string", 7, "type")]


def test_of_alternatives_the_nearest_is_reported():
    card = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
    schema = {"anyOf": [{"type": "null"}, card]}
    assert found(schema, {"n": 1}) == [("n", "string", 1, "type")]
    assert found(schema, 3) == [(".", "null or object", 3, "type")]


def test_true_is_no_number_and_one_is_not_true():
    assert found({"type": "integer"}, True) == [(".", "integer", True, "type")]
    assert found({"enum": [1, "a"]}, True) == [(".", "one of 1, 'a'", True, "value")]
    assert found({"type": "integer"}, 1.0) == []


def test_recursive_schemas_are_followed_as_deep_as_the_value_goes():
    tree = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "n": {"type": "integer"}},
        "required": ["n"],
    }
    assert found(tree, {"n": 1, "kids": [{"n": 2, "kids": [{"kids": []}]}]}) == [
        ("kids[0].kids[0].n", "integer", None, "missing")
    ]


def test_nesting_without_end_is_a_problem_and_no_crash():
    value = leaf = {}
    for _ in range(600):
        leaf["a"] = {}
        leaf = leaf["a"]
    schema = {"type": "object", "additionalProperties": {"$ref": "#"}}
    assert [problem.kind for problem in problems(schema, value)] == ["depth"]
    assert [problem.kind for problem in problems({"$ref": "#"}, 1)] == ["depth"]


def test_patterns_are_linear_in_time():
    schema = compile_schema({"type": "string", "pattern": "^(a+)+$"})
    assert [problem.kind for problem in schema.problems("a" * 50_000 + "!")] == ["value"]


def test_what_cannot_be_checked_is_let_pass_and_listed():
    schema = compile_schema(
        {
            "type": "object",
            "properties": {
                "code": {"type": "string", "pattern": "^(?=.*[0-9]).+$"},
                "place": {"$ref": "https://example.org/place.json"},
            },
        }
    )
    assert schema.unchecked == ("#/properties/code/pattern", "#/properties/place/$ref")
    assert schema.problems({"code": "x", "place": 3}) == ()
    assert [p.path for p in schema.problems({"code": 3})] == ["code"]


@pytest.mark.parametrize(
    ("schema", "value", "fine"),
    [
        ({"type": "string", "nullable": True}, None, True),
        ({"type": "string", "nullable": True}, 3, False),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, 1, False),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": False}, 1, True),
        (
            {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
            ["a", 1, None],
            True,
        ),
        ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, ["a", "b"], False),
        ({"$ref": "#/definitions/x", "definitions": {"x": {"type": "null"}}}, 1, False),
        (
            {"properties": {"a/b": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": False}},
            {"a/b": 1},
            False,
        ),
        ({"type": "number", "multipleOf": 0.1}, 0.3, True),
        ({"type": "string", "format": "email"}, "no email", True),
        ({"type": "array", "uniqueItems": True}, [1, True, "1", [1], {"a": 1}], True),
        ({"type": "array", "uniqueItems": True}, [{"a": [1]}, {"a": [1.0]}], False),
        (True, object(), True),
        (False, 1, False),
    ],
)
def test_forms_that_other_drafts_and_generators_write_are_understood(schema, value, fine):
    assert (not problems(schema, value)) is fine


@pytest.mark.requirement("bad-input:tool-schema:invalid")
@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (3, "at #: a schema is an object or a boolean, not 3"),
        ({"type": "dict"}, "at #/type: unknown type 'dict'; there are array, boolean, integer, "
         "null, number, object, string"),
        ({"type": []}, "at #/type: expected a type or a non-empty array of types, not []"),
        ({"type": 3}, "at #/type: expected a type or a non-empty array of types, not 3"),
        ({"type": [["x"]]}, "at #/type: unknown type ['x']; there are array, boolean, integer, "
         "null, number, object, string"),
        ({"properties": ["a"]}, "at #/properties: expected an object of schemas, not ['a']"),
        ({"properties": {"a": "string"}}, "at #/properties/a: a schema is an object or a boolean, "
         "not 'string'"),
        ({"properties": {"a": {"required": True}}}, "at #/properties/a/required: expected an array "
         "of property names, not True"),
        ({"enum": "ab"}, "at #/enum: expected an array of values, not 'ab'"),
        ({"minimum": "1"}, "at #/minimum: expected a number, not '1'"),
        ({"minLength": -1}, "at #/minLength: expected a non-negative integer, not -1"),
        ({"multipleOf": 0}, "at #/multipleOf: expected a number above 0, not 0"),
        ({"pattern": "("}, "at #/pattern: '(' is no regular expression"),
        ({"pattern": 1}, "at #/pattern: expected a regular expression, not 1"),
        ({"uniqueItems": 1}, "at #/uniqueItems: expected a boolean, not 1"),
        ({"anyOf": []}, "at #/anyOf: expected a non-empty array of schemas, not []"),
        ({"anyOf": [{}, 3]}, "at #/anyOf/1: a schema is an object or a boolean, not 3"),
        ({"$ref": 1}, "at #/$ref: expected a reference, not 1"),
        ({"$ref": "#/$defs/no"}, "at #/$ref: '#/$defs/no' leads nowhere in this schema"),
        ({"$defs": {"unused": {"type": "int"}}}, "at #/$defs/unused/type: unknown type 'int'; "
         "there are array, boolean, integer, null, number, object, string"),
        ({"additionalProperties": 3}, "at #/additionalProperties: a schema is an object or a "
         "boolean, not 3"),
    ],
)  # fmt: skip
def test_a_keyword_with_an_ill_formed_value_is_one_sentence(schema, message):
    with pytest.raises(DefinitionError) as caught:
        compile_schema(schema)
    assert str(caught.value) == message
