"""The functions of expressions: JMESPath's own, and those that Kyverno adds."""

from typing import Any

import pytest

from app.kyverno.expressions import EvaluationError
from tests.kyverno.evaluating import evaluated

DATA = {
    "text": "Hello world, helworldlo",
    "number": -12.5,
    "big": 16777217,
    "list": [3, 1, 2],
    "people": [{"n": "b", "a": 2}, {"n": "a", "a": 1}, {"n": "c"}],
    "labels": {"app": "web", "tier": "front"},
    "empty": [],
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # JMESPath's own.
        ("abs(number)", 12.5),
        ("avg(list)", 2),
        ("avg(empty)", None),
        ("ceil(number)", -12),
        ("floor(number)", -13),
        ("contains(text, 'world')", True),
        ("contains(text, `1`)", False),
        ("contains(list, `1`)", True),
        ("contains(`[1]`, `true`)", False),
        ('contains(`[{"a": 1}]`, `{"a": 1}`)', True),
        ("starts_with(text, 'Hello')", True),
        ("ends_with(text, 'Hello')", False),
        ("join(',', keys(labels))", "app,tier"),
        ("values(labels)", ["web", "front"]),
        ("length(text)", 23),
        ("length('\u00e9\u4e2d')", 2),
        ("length(labels)", 2),
        ("map(&n, people)", ["b", "a", "c"]),
        ("map(&a, people)", [2, 1, None]),
        ("max(list)", 3),
        ('min(`["b", "a"]`)', "a"),
        ("max(empty)", None),
        ("max_by(people[:2], &a).n", "b"),
        ("min_by(people[:2], &a).n", "a"),
        ("sort(list)", [1, 2, 3]),
        ("sort_by(people, &n)[*].n", ["a", "b", "c"]),
        ('merge(labels, `{"app": "db"}`)', {"app": "db", "tier": "front"}),
        ("not_null(nothing, `null`, text, 'x')", DATA["text"]),
        ("reverse(list)", [2, 1, 3]),
        ("reverse('ab')", "ba"),
        ("to_array(text)", [DATA["text"]]),
        ("to_number('12')", 12),
        ("to_number('1.50')", 1.5),
        ("to_number('1e3')", 1000),
        ("to_number('1_0')", None),
        ("to_number(' 1')", None),
        ("to_number('nan')", None),
        ("to_number('1e999')", None),
        ("to_number(`true`)", None),
        ("to_string(text)", DATA["text"]),
        ("to_string(`1.0`)", "1"),
        ('to_string(`{"b": [1.5, null], "a": "<&>"}`)', '{"a":"\\u003c\\u0026\\u003e","b":[1.5,null]}'),
        ("to_string(`1e21`)", "1e+21"),
        ("to_string(`0.0000001`)", "1e-7"),
        ("to_string(`123456789012`)", "123456789012"),
        ("type(`true`)", "boolean"),
        ("type(labels)", "object"),
        ("type(empty)", "array"),
        ("sum(`[1, 2]`)", 3),
        # Texts.
        ("compare('a', 'b')", -1),
        ("compare('b', 'a')", 1),
        ("compare('a', 'a')", 0),
        ("equal_fold('Go', 'gO')", True),
        ("equal_fold('a', 'b')", False),
        ("replace('x x x', 'x', 'y', `2`)", "y y x"),
        ("replace('x x x', 'x', 'y', `-1`)", "y y y"),
        ("replace_all('x x', 'x', 'y')", "y y"),
        ("to_upper('a#1b')", "A#1B"),
        ("to_lower('A#1B')", "a#1b"),
        ("trim('\u00a1\u00a1Hello!!', '!\u00a1')", "Hello"),
        ("trim(' a ', '')", " a "),
        ("trim_prefix('v1.2', 'v')", "1.2"),
        ("trim_prefix('1.2', 'v')", "1.2"),
        ("split('a, b', ', ')", ["a", "b"]),
        ("split('ab', '')", ["a", "b"]),
        ("truncate('abcdef', `3`)", "abc"),
        ("truncate('abc', `-1`)", ""),
        ("pattern_match('prefix-*', 'prefix-foo')", True),
        ("pattern_match('12*', abs(number))", True),
        ("pattern_match('16777217', big)", True),
        ("to_boolean('TruE')", True),
        ("to_boolean('false')", False),
        ("path_canonicalize('///var//run/containerd/../containerd.sock/')", "/var/run/containerd.sock"),
        ("path_canonicalize('a/./b//c')", "a/b/c"),
        ("path_canonicalize('')", ""),
        ("semver_compare('4.1.3', '>=4.1.x')", True),
        ("semver_compare('4.1.3', '!4.x')", False),
        ("semver_compare('v4', '>=1.0.0')", False),
        ("image_normalize('nginx')", "docker.io/nginx:latest"),
        ("image_normalize('ghcr.io/a/b:1')", "ghcr.io/a/b:1"),
        ("image_normalize('localhost/a:1')", "localhost/a:1"),
        # Regular expressions.
        ("regex_match('wor.d', text)", True),
        ("regex_match('^wor.d$', text)", False),
        ("regex_match('^16777217$', big)", True),
        ("regex_match('^12[.]5$', abs(number))", True),
        ("regex_match('^(?P<x>[0-9]+)$', '12')", True),
        ("regex_match('(?i)HELLO', text)", True),
        ("regex_replace_all('([Hh]e|G)l', text, '${2}G')", "Glo world, Gworldlo"),
        ("regex_replace_all('(a)(b)', 'ab', '$2$1')", "ba"),
        ("regex_replace_all('(?P<first>a)', 'a', '${first}-$$-$first')", "a-$-a"),
        ("regex_replace_all('a', 'a', '$1x')", ""),
        ("regex_replace_all('(a)', 'a', '${1}x')", "ax"),
        ("regex_replace_all('x*', 'abc', '-')", "-a-b-c-"),
        ("regex_replace_all('x*', 'axb', '-')", "-a-b-"),
        ("regex_replace_all('^', 'ab', '-')", "-ab"),
        ("regex_replace_all_literal('[Hh]el?', text, '$1')", "$1lo world, $1worldlo"),
        # Maps and lists.
        ("lookup(labels, 'app')", "web"),
        ("lookup(labels, 'none')", None),
        ("lookup(list, `1`)", 1),
        ("lookup(list, `3`)", None),
        ("lookup(list, `-1`)", None),
        ("items(labels, 'k', 'v')", [{"k": "app", "v": "web"}, {"k": "tier", "v": "front"}]),
        ("items(list, 'i', 'v') | [0]", {"i": 0, "v": 3}),
        ('object_from_lists(`["a", 1]`, `[1]`)', {"a": 1, "1": None}),
        ('label_match(`{"app": "web"}`, labels)', True),
        ('label_match(`{"app": "db"}`, labels)', False),
        ('label_match(`{"x": "web"}`, labels)', False),
        # Encodings.
        ("base64_encode('hi \u00e9')", "aGkgw6k="),
        ("base64_decode('aGkgw6k=')", "hi \u00e9"),
        ("md5('hello')", "5d41402abc4b2a76b9719d911017c592"),
        ("sha1('hello')", "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"),
        ("sha256('hello')", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
        ("parse_json('{\"a\": [1, 2]}').a[1]", 2),
        ('to_string(parse_json(\'[1.2,true,{"a":{"a":"b"}}]\'))', '[1.2,true,{"a":{"a":"b"}}]'),
        ("parse_yaml('a: b')", {"a": "b"}),
        ("parse_yaml('- 1\n- {b: [yes, ~]}')", [1, {"b": [True, None]}]),
        ("parse_yaml('---\nfoo: ~\nbar: >-\n  one\n  line\n')", {"foo": None, "bar": "one line"}),
        ("parse_yaml('a: 1\n---\na: 2')", {"a": 1}),
        ("parse_yaml('3')", 3),
    ],
)
def test_the_value(expression: str, value: Any) -> None:
    found = evaluated(expression, DATA)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("abs('a')", "abs(): argument 1 is string, not number"),
        ("length(`1`)", "length(): argument 1 is number, not string or array or object"),
        ('sort(`[1, "a"]`)', "sort(): argument 1 is array, not array of numbers or array of strings"),
        ("sort_by(people, &a)", "sort_by(): the expression gives null and number, not only numbers or only text"),
        ("sum(empty)", "sum(): there is nothing to add up"),
        ("to_boolean('yes')", 'to_boolean(): "yes" is neither true nor false'),
        ("semver_compare('1.2.3', '~1')", 'semver_compare(): "~1" is no range of versions'),
        ("image_normalize('++')", 'image_normalize(): "++" is no reference to an image'),
        ("regex_match(join('', ['(', 'a']), 'a')", 'regex_match(): "(a" is no regular expression: missing ): (a'),
        ("lookup(labels, `1`)", "lookup(): the key of a map is text"),
        ("lookup(list, '1')", "lookup(): the place in a list is a whole number"),
        ("base64_decode('!')", "base64_decode(): the text is not base64"),
        ("parse_json('{')", "parse_json(): the text is not JSON"),
        ("parse_json('NaN')", "parse_json(): the text is not JSON"),
        ("parse_yaml('a: [')", "parse_yaml(): the text is not YAML"),
        ("pattern_match('a', `null`)", "pattern_match(): argument 2 is null, not string or number"),
    ],
)
def test_what_it_does_not_take(expression: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluated(expression, DATA)
    assert str(caught.value) == message


def test_an_expression_that_is_made_to_hang_answers() -> None:
    assert evaluated("regex_match('^(([a-z])+.)+[A-Z]([a-z])+$', a)", {"a": "a" * 100_000}) is False


def test_an_expression_that_is_too_large_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="is no regular expression"):
        evaluated("regex_match(a, 'x')", {"a": "((a{1,100}){1,100}){1,100}"})
