"""The sockets of rows.ts in Python, which parse every frame. It gets a RowsOrder as its argument, and prints a RowsReport for each burst."""

import asyncio
import json
import sys
import time

import websockets


async def serve(order: dict) -> None:
    left, used = order["bars"], 0
    cpu = time.process_time()

    async def read(socket) -> None:
        nonlocal left, used, cpu
        async for text in socket:
            used += len(text)
            frame = json.loads(text)
            if frame["type"] == "bar":
                left -= 1
            elif frame["type"] == "bars":
                left -= len(frame["bars"])
            if left > 0:
                continue
            now = time.process_time()
            print(json.dumps({"cpuUs": (now - cpu) * 1e6, "bytes": used}), flush=True)
            left, used, cpu = order["bars"], 0, now

    sockets = []
    for _ in range(order["sockets"]):
        socket = await websockets.connect(order["url"], compression=None)
        await socket.recv()
        message = {"action": "subscribe", "feeds": [order["feed"]]} | {k: order[k] for k in ["format"] if k in order}
        await socket.send(json.dumps(message))
        await socket.recv()
        sockets.append(socket)
    cpu = time.process_time()
    print(json.dumps({"ready": True}), flush=True)
    await asyncio.gather(*map(read, sockets))


asyncio.run(serve(json.loads(sys.argv[1])))
