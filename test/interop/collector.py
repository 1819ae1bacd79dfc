"""A gRPC client in Python. It sends every line on stdin, a CollectorMessage as JSON, and prints every
IngestMessage as a line of JSON. At start it generates stubs from the .proto files of the project.

usage: collector.py PROTO_FOLDER STUBS_FOLDER HOST:PORT TOKEN
"""

import json
import pathlib
import queue
import sys
import threading

import grpc
from google.protobuf import json_format
from grpc_tools import protoc

MESSAGE_BYTES_MAX = 256 * 1024


def load_stubs(protos: str, generated: str):
    sources = [str(path) for path in pathlib.Path(protos).rglob("collector.proto")]
    arguments = ["protoc", f"-I{protos}", f"--python_out={generated}", f"--grpc_python_out={generated}"]
    if protoc.main([*arguments, *sources]) != 0:
        sys.exit("the .proto files do not compile")
    sys.path.insert(0, generated)
    from fxd.v1 import collector_pb2, collector_pb2_grpc  # type: ignore[import-not-found]

    return collector_pb2, collector_pb2_grpc


def main() -> None:
    protos, generated, address, token = sys.argv[1:5]
    messages, stubs = load_stubs(protos, generated)
    outgoing: queue.Queue = queue.Queue()

    def read_stdin() -> None:
        for line in sys.stdin:
            outgoing.put(json_format.ParseDict(json.loads(line), messages.CollectorMessage()))
        outgoing.put(None)

    threading.Thread(target=read_stdin, daemon=True).start()
    options = [("grpc.max_receive_message_length", MESSAGE_BYTES_MAX)]
    with grpc.insecure_channel(address, options=options) as channel:
        session = stubs.CollectorStub(channel).Session(
            iter(outgoing.get, None), metadata=[("authorization", f"Bearer {token}")]
        )
        try:
            for answer in session:
                print(json.dumps(json_format.MessageToDict(answer)), flush=True)
        except grpc.RpcError as error:
            print(json.dumps({"error": {"code": error.code().name, "details": error.details()}}), flush=True)


main()
