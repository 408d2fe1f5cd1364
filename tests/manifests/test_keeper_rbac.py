"""The keeper's rights: no more than it needs, and each with its reason."""

from pathlib import Path

from app.manifests import keeper_rbac as rbac

ALL = (
    *rbac.CERTIFICATE_RIGHTS,
    *rbac.NAMESPACE_RIGHTS,
    *rbac.configuration_rights("gpugate"),
    *rbac.READING_RIGHTS,
)


def test_only_what_has_no_name_of_ours_goes_without_one() -> None:
    for right in ALL:
        assert right.why
        assert right.names or set(right.verbs) <= {"create", "list"}, right
        assert "*" not in (right.group, *right.resources, *right.verbs)
        assert "secrets" not in right.resources or not {"list", "watch", "delete"} & set(right.verbs)


def test_secrets_are_read_and_written_in_its_own_namespace_only() -> None:
    account, role, binding, wide, wide_binding = rbac.keeper_rbac("gpu-system")
    assert {each["metadata"]["namespace"] for each in (account, role, binding)} == {"gpu-system"}
    assert all("namespace" not in each["metadata"] for each in (wide, wide_binding))
    assert not any("secrets" in rule["resources"] or "configmaps" in rule["resources"] for rule in wide["rules"])
    for each in (binding, wide_binding):
        assert each["subjects"] == [{"kind": "ServiceAccount", "name": "gpugate-keeper", "namespace": "gpu-system"}]


def test_without_certificates_it_reads_one_secret_and_writes_none() -> None:
    role = rbac.keeper_rbac("gpu-system", certificates=False)[1]
    rules = [rule for rule in role["rules"] if "secrets" in rule["resources"]]
    assert rules == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["gpugate-tls"]}]


def test_names_can_be_others() -> None:
    *_, wide, binding = rbac.keeper_rbac("a", configuration="second", cluster_role="second-keeper")
    assert wide["metadata"]["name"] == binding["roleRef"]["name"] == "second-keeper"
    assert [rule["resourceNames"] for rule in wide["rules"] if "resourceNames" in rule] == [["second"]]


def test_the_page_explains_each_right() -> None:
    page = " ".join(Path("docs/keeper.md").read_text().split())
    for right in ALL:
        row = f"| {', '.join(f'`{name}`' for name in right.resources)} | {', '.join(right.verbs)} |"
        assert row in page, row
        assert right.why in page, right.why


def test_it_makes_no_configurations_where_an_installation_has_made_them() -> None:
    for create in (True, False):
        wide = rbac.keeper_rbac("a", create=create)[3]
        assert any(rule["verbs"] == ["create"] for rule in wide["rules"]) is create
