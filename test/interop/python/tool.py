"""PyIceberg and DuckDB as tools of the interop run: one JSON request a line in, one JSON answer a line out."""

import importlib.util
import json
import os
import sys
import traceback

import duckdb
from pyiceberg.catalog.dynamodb import DynamoDbCatalog

import canonical

ANSWERS = os.fdopen(os.dup(1), "w")
sys.stdout = sys.stderr


class Tool:
    def open(self, endpoints, **_):
        self.endpoints = endpoints
        # PyIceberg has no property for the catalog's endpoint; its AWS client reads this.
        os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = endpoints["dynamoDbEndpoint"]
        self.catalog = DynamoDbCatalog(
            "interop",
            **{
                "table-name": endpoints["catalogTable"],
                "dynamodb.region": endpoints["region"],
                "s3.endpoint": endpoints["s3Endpoint"],
                "s3.region": endpoints["region"],
                "s3.force-virtual-addressing": "false",
                "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
            },
        )
        self.duckdb = self.connect_duckdb()
        return [duckdb.__version__, self.duckdb.sql("SELECT 1").fetchone()[0]]

    def connect_duckdb(self):
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "allow_unsigned_extensions": "false"})
        for name in ("httpfs", "avro", "iceberg"):
            connection.execute(f"LOAD '{extension_file(name)}'")
        host = self.endpoints["s3Endpoint"].split("://")[1]
        connection.execute("SET TimeZone = 'UTC'")
        # With its cache, DuckDB 1.5.5 now and then takes one vector of a Puffin file for another.
        connection.execute("SET enable_external_file_cache = false")
        connection.execute(
            "CREATE SECRET (TYPE s3, KEY_ID 'test', SECRET 'test', REGION '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false)"
            % (self.endpoints["region"], host)
        )
        return connection

    def pyiceberg(self, table, **_):
        return canonical.rows(self.catalog.load_table(table).scan().to_arrow())

    def duckdb_rows(self, metadataLocation, columns, **_):
        names = ", ".join(f'"{name}"' for name in columns)
        result = self.duckdb.sql(f"SELECT {names} FROM iceberg_scan('{metadataLocation}')")
        uuids = {i for i, type_ in enumerate(result.types) if str(type_) == "UUID"}
        return canonical.rows(result.to_arrow_table(), uuids)


def extension_file(name):
    """The extension inside its Python package, named by DuckDB's version."""
    package = importlib.util.find_spec(f"duckdb_extension_{name}")
    folder = package.submodule_search_locations[0]
    return os.path.join(folder, "extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")


def main():
    tool = Tool()
    commands = {"open": tool.open, "pyiceberg": tool.pyiceberg, "duckdb": tool.duckdb_rows}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"id": request["id"], "result": commands[request["command"]](**request)}
        except BaseException:
            answer = {"id": request["id"], "error": traceback.format_exc()}
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


main()
