"""Writes a dict as TOML, which the standard library only reads."""
import json


def toml_of(table):
    """Returns the table as TOML: one line for each of its entries."""
    return "".join(f"{_text_of(str(key))} = {_value_of(value, str(key))}\n" for key, value in table.items())


def _text_of(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value_of(value, place):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text_of(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text_of(str(key))} = {_value_of(each, f'{place}.{key}')}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value_of(each, place) for each in value) + "]"
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{place} is a {type(value).__name__}; write a text, a number, a bool, a list or a dict")
