"""The canonical text of Arrow values, as ../README.md defines it."""

import struct
import uuid

import pyarrow as pa


def quote(text):
    units = text.encode("utf-16-be", "surrogatepass")
    out = []
    for i in range(0, len(units), 2):
        unit = units[i] << 8 | units[i + 1]
        plain = 0x20 <= unit <= 0x7E and unit not in (0x22, 0x5C)
        out.append(chr(unit) if plain else f"\\u{unit:04x}")
    return '"' + "".join(out) + '"'


def float_text(value):
    if value != value:
        return "f7fc00000"
    return "f" + struct.pack(">f", value).hex()


def double_text(value):
    if value != value:
        return "d7ff8000000000000"
    return "d" + struct.pack(">d", value).hex()


def decimal_text(value):
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    return f"{-unscaled if sign else unscaled}@{-exponent}"


def plain_number(array, type_):
    """Dates, times and timestamps as the whole numbers that Arrow stores: days, micros, nanos."""
    bits = pa.int32() if type_.bit_width == 32 else pa.int64()
    return array.cast(bits, safe=True)


def column(array, type_):
    """Texts of the values of an array; None never appears, null is a text."""
    if isinstance(array, pa.ChunkedArray):
        return [text for chunk in array.chunks for text in column(chunk, type_)]
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.uuid":
            return each(array.storage, lambda value: str(uuid.UUID(bytes=value)))
        return column(array.storage, type_.storage_type)
    if pa.types.is_temporal(type_):
        return each(plain_number(array, type_), str)
    if pa.types.is_struct(type_):
        return struct_column(array, type_)
    if pa.types.is_map(type_):
        return map_column(array, type_)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return list_column(array, type_)
    return each(array, scalar(type_))


def each(array, text):
    return ["null" if value is None else text(value) for value in array.to_pylist()]


def scalar(type_):
    if pa.types.is_boolean(type_):
        return lambda value: "true" if value else "false"
    if pa.types.is_float32(type_):
        return float_text
    if pa.types.is_float64(type_):
        return double_text
    if pa.types.is_decimal(type_):
        return decimal_text
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return quote
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_fixed_size_binary(type_):
        return lambda value: "x" + value.hex()
    if pa.types.is_integer(type_) or pa.types.is_null(type_):
        return str
    raise ValueError(f"no canonical text for {type_}")


def struct_column(array, type_):
    fields = [column(array.field(i), type_.field(i).type) for i in range(type_.num_fields)]
    rows = ["(" + ",".join(row) + ")" for row in zip(*fields)]
    return [text if valid else "null" for text, valid in zip(rows, array.is_valid().to_pylist())]


def list_column(array, type_):
    """Elements are taken through offsets, which hold for sliced arrays too."""
    texts = column(array.values, type_.value_type)
    offsets = array.offsets.to_pylist()
    rows = ["[" + ",".join(texts[a:b]) + "]" for a, b in zip(offsets, offsets[1:])]
    return [text if valid else "null" for text, valid in zip(rows, array.is_valid().to_pylist())]


def map_column(array, type_):
    keys = column(array.keys, type_.key_type)
    values = column(array.items, type_.item_type)
    offsets = array.offsets.to_pylist()
    rows = []
    for a, b in zip(offsets, offsets[1:]):
        # Keys are ASCII by construction, so this order is Java's.
        entries = sorted(zip(keys[a:b], values[a:b]))
        rows.append("{" + ",".join(f"{key}:{value}" for key, value in entries) + "}")
    return [text if valid else "null" for text, valid in zip(rows, array.is_valid().to_pylist())]


def rows(table, uuids=()):
    """Sorted canonical rows of an Arrow table; the columns numbered in uuids hold uuids as text."""
    columns = []
    for i in range(table.num_columns):
        values = table.column(i)
        columns.append(each(values, str) if i in uuids else column(values, table.schema.field(i).type))
    return sorted("(" + ",".join(row) + ")" for row in zip(*columns))
