"""Settings: environment, functions, context managers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tapejax._src.core import config

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def _settings_as_before() -> Iterator[None]:
    before = (config.SETTINGS.immediate, config.SETTINGS.log_compiles)
    yield
    config.SETTINGS.immediate, config.SETTINGS.log_compiles = before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, True) for text in ("1", "true", " ON ", "Yes")),
        *((text, False) for text in ("0", "", "false", "off", "no")),
    ],
)
def test_the_environment_turns_settings_on_and_off(text: str, expected: bool) -> None:
    environ = {"TAPEJAX_IMMEDIATE": text, "TAPEJAX_LOG_COMPILES": text}
    assert config.from_environment(environ) == config.Settings(expected, expected)


def test_a_missing_variable_means_off() -> None:
    assert config.from_environment({}) == config.Settings(immediate=False, log_compiles=False)


def test_another_value_is_refused_with_the_name_of_the_variable() -> None:
    with pytest.raises(ValueError, match="TAPEJAX_IMMEDIATE='maybe' is neither on"):
        config.from_environment({"TAPEJAX_IMMEDIATE": "maybe"})


def test_functions_change_the_settings() -> None:
    config.set_immediate(True)
    config.log_compiles(True)
    assert (config.SETTINGS.immediate, config.SETTINGS.log_compiles) == (True, True)
    config.set_immediate(False)
    config.log_compiles(False)
    assert (config.SETTINGS.immediate, config.SETTINGS.log_compiles) == (False, False)


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_a_block_restores_the_setting_even_after_an_error(outside: bool, inside: bool) -> None:
    config.set_immediate(outside)
    with config.immediate(inside):
        assert config.SETTINGS.immediate is inside
    assert config.SETTINGS.immediate is outside
    with pytest.raises(KeyError), config.immediate(inside):
        raise KeyError
    assert config.SETTINGS.immediate is outside


def test_blocks_nest() -> None:
    config.set_immediate(False)
    with config.immediate():
        with config.immediate(False):
            assert not config.SETTINGS.immediate
        assert config.SETTINGS.immediate
    assert not config.SETTINGS.immediate


def test_settings_have_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        config.SETTINGS.imediate = True  # pyright: ignore[reportAttributeAccessIssue]
