import pytest

from hornbook.errors import RuleError
from hornbook.rules import Field, RuleSchema, Scope, SymbolicForm, ToolCategories, Vocabulary

FORM = SymbolicForm(
    domain="RELATIONSHIP_RESOLUTION",
    qualifier=("RELATIONSHIP_CHAIN_TRAVERSAL", "FAMILIAL_RELATIONSHIP"),
    action=("SEQUENCE_SUBTASKS", "DECOMPOSE_QUERY"),
    strength="MANDATORY",
    tool_category="GENEALOGY_QUERY",
    error="dec",
)


@pytest.mark.requirement("rules:form:symbolic")
def test_a_form_prints_as_the_paper_prints_it():
    assert str(FORM) == (
        "if(domain=RELATIONSHIP_RESOLUTION and "
        "qualifier=[FAMILIAL_RELATIONSHIP, RELATIONSHIP_CHAIN_TRAVERSAL] and "
        "tool_category=GENEALOGY_QUERY) then(action=[DECOMPOSE_QUERY, SEQUENCE_SUBTASKS]) "
        "with strength=MANDATORY"
    )


@pytest.mark.requirement("rules:form:symbolic")
def test_list_fields_are_sets_so_order_and_repetition_make_no_difference():
    one = SymbolicForm(domain="D", action=("B", "A", "B"), error="dec")
    assert one == SymbolicForm(domain="D", action=("A", "B"), error="dec")
    assert one.action == ("A", "B")


@pytest.mark.requirement("rules:form:symbolic")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"strength": "must"},
            "symbolic: strength 'must' is none of MANDATORY, RECOMMENDED, OPTIONAL",
        ),
        ({"error": "plan"}, "symbolic: error 'plan' is none of dec, sel, arg"),
        (
            {"error": "sel"},
            "symbolic: a tool rule (error 'sel') needs a scope: named tools or a category",
        ),
        ({"action": "A"}, "symbolic: action is one string, 'A'; give a tuple of strings"),
        ({"qualifier": (1,)}, "symbolic: qualifier holds something that is no text"),
    ],
)
def test_a_form_that_is_not_well_formed_names_its_field(changes, message):
    with pytest.raises(RuleError) as caught:
        SymbolicForm(**({"domain": "D", "action": ("A",), "error": "dec"} | changes))
    assert str(caught.value) == message


@pytest.mark.requirement("rules:form:symbolic")
def test_a_scope_names_tools_or_a_category_and_not_both():
    with pytest.raises(RuleError) as caught:
        Scope(tools=("refund",), category="PAYMENT")
    assert str(caught.value) == "scope: named tools or a category, not both"
    assert Scope().anywhere


@pytest.mark.requirement("rules:form:schema")
def test_the_schema_is_data_and_the_papers_five_fields_are_its_default():
    assert RuleSchema().names == ("domain", "qualifier", "action", "strength", "tool_category")
    wider = RuleSchema(fields=(*RuleSchema().fields, Field(name="region", at_least=1, at_most=1)))
    form = SymbolicForm(domain="D", action=("A",), error="dec", more={"region": ("EU",)})
    wider.check(form)
    assert form.labels("region") == ("EU",)


@pytest.mark.requirement("rules:form:schema")
def test_a_form_must_keep_to_its_schema():
    form = SymbolicForm(domain="D", action=("A",), error="dec", more={"region": ("EU",)})
    with pytest.raises(RuleError) as caught:
        RuleSchema().check(form)
    assert str(caught.value) == (
        "symbolic: the schema has no field 'region'; "
        "it has domain, qualifier, action, strength, tool_category"
    )
    with pytest.raises(RuleError) as caught:
        RuleSchema().check(SymbolicForm(domain="D", action=(), error="dec"))
    assert str(caught.value) == "symbolic: action needs at least 1 label, has 0"


@pytest.mark.requirement("rules:form:vocabulary")
def test_a_label_outside_the_vocabulary_names_field_label_and_the_nearest():
    vocabulary = Vocabulary(labels={"domain": ("ORDERS", "OLD_ORDER"), "action": ("A",)})
    with pytest.raises(RuleError) as caught:
        vocabulary.check(SymbolicForm(domain="ORDER", action=("A",), error="dec"))
    assert str(caught.value) == (
        "symbolic: domain has no label 'ORDER' in the vocabulary; nearest: ORDERS, OLD_ORDER"
    )
    with pytest.raises(RuleError) as caught:
        vocabulary.check(SymbolicForm(domain="ORDERS", action=("ZZZ",), error="dec"))
    assert str(caught.value) == (
        "symbolic: action has no label 'ZZZ' in the vocabulary; it has 1 labels, none near"
    )


@pytest.mark.requirement("rules:form:vocabulary")
def test_the_category_of_a_scope_is_a_label_of_the_vocabulary_too():
    vocabulary = Vocabulary(labels={"domain": ("D",), "action": ("A",)})
    form = SymbolicForm(domain="D", action=("A",), error="sel", scope=Scope(category="PAYMENT"))
    with pytest.raises(RuleError) as caught:
        vocabulary.check(form)
    assert str(caught.value) == (
        "symbolic: tool_category has no label 'PAYMENT' in the vocabulary; "
        "it has 0 labels, none near"
    )


@pytest.mark.requirement("rules:form:vocabulary")
def test_a_vocabulary_has_a_digest_that_follows_its_labels_and_not_their_order():
    one = Vocabulary(labels={"domain": ("A", "B"), "action": ("C",)})
    other = Vocabulary(labels={"action": ("C",), "domain": ("B", "A")})
    assert one.digest == other.digest
    assert one.digest != Vocabulary(version="2", labels=one.labels).digest


@pytest.mark.requirement("rules:form:vocabulary")
def test_the_smallest_vocabulary_holds_just_the_labels_in_use():
    vocabulary = Vocabulary.of([FORM])
    vocabulary.check(FORM)
    assert vocabulary.labels == {
        "action": ("DECOMPOSE_QUERY", "SEQUENCE_SUBTASKS"),
        "domain": ("RELATIONSHIP_RESOLUTION",),
        "qualifier": ("FAMILIAL_RELATIONSHIP", "RELATIONSHIP_CHAIN_TRAVERSAL"),
        "tool_category": ("GENEALOGY_QUERY",),
    }


@pytest.mark.requirement("rules:form:vocabulary")
def test_labels_are_upper_case():
    with pytest.raises(RuleError) as caught:
        Vocabulary(labels={"domain": ("orders",)})
    assert str(caught.value) == (
        "vocabulary: domain label 'orders' is not upper-case letters, digits and _"
    )


@pytest.mark.requirement("rules:form:symbolic")
def test_tool_names_stand_in_a_scope_only():
    vocabulary = Vocabulary(labels={"action": ("REFUND",), "tool_category": ("PAYMENT",)})
    with pytest.raises(RuleError) as caught:
        ToolCategories({"REFUND": "PAYMENT"}).check(vocabulary)
    assert str(caught.value) == (
        "vocabulary: action label 'REFUND' is the name of a tool; tool names stand in a scope only"
    )
