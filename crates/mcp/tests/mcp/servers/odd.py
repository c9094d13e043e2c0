"""An MCP server that does one thing as no server should. `odd.py MODE RECORD`; what it is told is
appended to the file RECORD, one message a line."""
import json, os, signal, subprocess, sys, time

mode, record = sys.argv[1], sys.argv[2]
out = sys.stdout.buffer
LEGACY = "2025-11-25"
MODERN = "2026-07-28"


def tool(name, **more):
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


def send(message):
    out.write(json.dumps(message).encode() + b"\n")
    out.flush()


def raw(text):
    out.write(text if isinstance(text, bytes) else text.encode())
    out.write(b"\n")
    out.flush()


def flood(stream, text):
    while True:
        stream.write(text)


def farewell(word):
    with open(record + ".end", "a") as file:
        file.write(word + "\n")


def told(message):
    with open(record, "a") as file:
        file.write(json.dumps(message) + "\n")


def lives():
    with open(record + ".lives", "a") as file:
        file.write("x")
    return os.path.getsize(record + ".lives")


life = lives()
tools = [tool("echo")]
if mode == "banner":
    raw("Welcome to the odd server!")
    raw("")
    raw('{"level":"info","msg":"listening"}')
    raw(b"\xef\xbb\xbf  ")
elif mode == "stderr":
    sys.stderr.write(("x" * 79 + "\n") * 5000)
    sys.stderr.flush()
elif mode == "bad_tools":
    tools = [tool(f"good{n}") for n in range(9)]
    tools[4:4] = [{"name": "bad", "description": "no schema"}]
    tools += [{"name": 7, "inputSchema": {}}, tool("good1"), {"name": "list", "inputSchema": []}]
    tools += [tool("odd", icons=7, annotations=[], execution={"a": 1})]
elif mode == "names":
    tools = [tool("calendar.get"), tool("calendar/get"), tool("calendar_get"), tool("x" * 100)]
elif mode == "identity":
    words = ("session_id", "user_id", "tool_call_id", "tool_name", "tool", "token", "role", "arguments")
    properties = {word: {"type": "string"} for word in words}
    tools = [tool("echo", inputSchema={"type": "object", "properties": properties, "required": ["session_id"]})]
elif mode == "orphan":
    subprocess.Popen(["sleep", sys.argv[3]])
elif mode == "crash":
    sys.stderr.write("cannot find the licence\n")
    sys.exit(5)
elif mode == "crash_once_ready" and life > 1:
    sys.stderr.write("never again\n")
    sys.exit(6)
elif mode in ("late", "late_modern", "late_both"):
    time.sleep(1.5)
elif mode == "floods":
    flood(out, b"y\n" * 1000)
elif mode == "floods_blank":
    flood(out, b"\n" * 1000)
elif mode == "floods_without_lines":
    flood(out, b"y" * 65536)
elif mode == "floods_stderr":
    flood(sys.stderr.buffer, b"y\n" * 1000)
elif mode == "floods_later":
    tools = [tool("flood"), tool("echo")]
elif mode == "farewell":
    signal.signal(signal.SIGTERM, lambda *_: farewell("told to end"))
elif mode == "tells":
    sys.stderr.write("the key is " + os.environ["KEY"] + "\n")
    sys.exit(5)
elif mode == "dies":
    tools = [tool("die"), tool("echo")]
elif mode == "lists_once":
    if life > 1:
        sys.exit("it has no licence")
elif mode == "by_life":
    same = tool("same")
    tools = [same, tool("old"), tool("other")] if life == 1 else [same, tool("new"), tool("other", description="Does another thing.")]
elif mode == "structured":
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tools = [tool("good", outputSchema=schema), tool("bad", outputSchema=schema)]
elif mode == "blabs":
    key = os.environ["KEY"]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    named = {"description": "d", "inputSchema": {}}
    tools = [tool("echo", outputSchema=schema), {"name": {"key": key}, **named}]
    tools += [{"name": key, "inputSchema": []}, tool("odd", outputSchema={"type": key})]


def reply(id, result=None, error=None):
    if mode == "string_ids":
        id = str(id)
    message = {"jsonrpc": "2.0", "id": id}
    if mode == "no_version":
        del message["jsonrpc"]
    if error:
        message["error"] = error
    else:
        message["result"] = result
    send(message)


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def call(id, params):
    name = params["name"]
    words = json.dumps(params.get("arguments", {}))
    if mode == "video":
        video = {"type": "video", "data": "aGVsbG8=", "mimeType": "video/mp4"}
        reply(id, {"content": [{"type": "text", "text": "before"}, video]})
    elif mode == "media":
        reply(id, {"content": [
            {"type": "text", "text": "Here it is."},
            {"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"},
            {"type": "audio", "data": "no base64!", "mimeType": "audio/ogg"},
            {"type": "resource", "resource": {"uri": "file:///docs/a.pdf", "mimeType": "application/pdf", "blob": "aGk"}},
            {"type": "resource", "resource": {"uri": "file:///docs/a.txt", "text": "body"}},
            {"type": "resource_link", "uri": "https://example.com/b", "name": "b", "mimeType": "text/html"},
        ]})
    elif mode == "huge":
        reply(id, text("h" * (20 << 20)) if name == "echo" and params["arguments"].get("huge") else text("small"))
    elif mode == "huge_id_last":
        send({"result": text("h" * (20 << 20)), "jsonrpc": "2.0", "id": id})
    elif mode == "surrogate":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\\ud83dz"}]}}' % id)
    elif mode == "byte":
        raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffz"}]}}' % id)
    elif mode == "garbled":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":' % id)
    elif mode in ("dies", "crash_once_ready") and name != "echo":
        sys.exit(3)
    elif mode == "crash_once_ready":
        sys.exit(3)
    elif mode == "progress":
        token = params["_meta"]["progressToken"]
        for n in range(8):
            time.sleep(0.75)
            progress = {"progressToken": token, "progress": n, "total": 8, "message": f"step {n}"}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        reply(id, text("done"))
    elif mode == "floods_later" and name == "flood":
        flood(out, b"y\n" * 1000)
    elif mode == "chatty":
        for _ in range(6000):
            out.write(b"working\n")
        reply(id, text("worked"))
    elif mode == "mute":
        pass
    elif mode == "hangs":
        if life == 1:
            time.sleep(600)
        reply(id, text("awake"))
    elif mode == "odd_result":
        reply(id, params["arguments"]["result"])
    elif mode == "grows":
        if len(tools) == 1:
            tools.append(tool("grown"))
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        reply(id, text("grew"))
    elif mode == "refuses":
        reply(id, error={"code": -32602, "message": "n must be positive"})
    elif mode == "fails":
        reply(id, text("no such file", isError=True))
    elif mode == "structured":
        content = {"n": 1} if name == "good" else {"n": "one"}
        reply(id, text(json.dumps(content), structuredContent=content))
    elif mode == "asks":
        send({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        send({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}})
        reply(id, text("asked"))
    elif mode == "blabs":
        blab(id, params)
    elif mode == "env":
        reply(id, text(" ".join(sorted(os.environ))))
    else:
        reply(id, text(words))


def blab(id, params):
    """Says what it was given, in the way that it is asked to."""
    way = params["arguments"]["way"]
    if way == "log":
        for data in (key, {"key": key}):
            send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "debug", "data": data}})
    elif way == "progress":
        progress = {"progressToken": params["_meta"]["progressToken"], "progress": 1, "message": f"the key is {key}"}
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
    elif way == "noise":
        raw("x" * 150 + key)
        raw(json.dumps({"key": key}))
    elif way == "nobody":
        # To nothing that was asked, with two open: whose it is cannot be known.
        reply(None, error={"code": 1, "message": f"the key is {key}"})
    elif way == "dies":
        sys.stderr.write(f"the key is {key}\n")
        sys.exit(3)
    if way in ("error", "parameters"):
        reply(id, error={"code": -32602 if way == "parameters" else 1, "message": f"the key is {key}"})
    elif way == "fails":
        reply(id, text(f"the key is {key}", isError=True))
    elif way == "misfit":
        reply(id, text("n", structuredContent={"n": key}))
    elif way == "garbled":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"key":%s' % (id, json.dumps(key)))
    else:
        reply(id, text("done"))


def page(cursor):
    if mode == "cursor":
        return {"tools": tools, "nextCursor": "again"}
    if mode == "pages":
        start = int(cursor or 0)
        listed = {"tools": [tool(f"t{n}") for n in range(start, min(start + 50, 120))]}
        if start + 50 < 120:
            listed["nextCursor"] = str(start + 50)
        return listed
    if mode == "odd_list":
        return [tools]
    return {"tools": tools}


while True:
    line = sys.stdin.buffer.readline()
    if not line:
        while mode == "immortal":
            time.sleep(60)
        if mode == "farewell":
            time.sleep(0.3)
            raw("bye " * 250_000)
            farewell("ended")
        break
    message = json.loads(line)
    told(message)
    if mode == "deaf":
        continue
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if id is None or method is None:
        continue
    if mode in ("modern", "late_modern"):
        meta = params.get("_meta", {})
        if meta.get("io.modelcontextprotocol/protocolVersion") != MODERN:
            reply(id, error={"code": -32022, "message": "unsupported", "data": {"supported": [MODERN]}})
        elif method == "server/discover":
            reply(id, {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        elif method == "tools/list":
            reply(id, {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/call":
            reply(id, {"resultType": "complete", **text("modern")})
    elif method == "server/discover" and mode == "late_both":
        reply(id, {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
    elif method == "server/discover":
        if mode == "probe_exit":
            sys.exit(1)
        if mode != "probe_silent":
            reply(id, error={"code": -32601, "message": "Method not found"})
    elif method == "initialize":
        version = {"future": "2099-01-01", "modern_in_legacy": MODERN}.get(mode, LEGACY)
        result = {"protocolVersion": version, "capabilities": {"tools": {}}}
        if mode != "no_server_info":
            result["serverInfo"] = {"name": "odd", "version": "1"}
        reply(id, result)
    elif method == "tools/list":
        reply(id, page(params.get("cursor")))
    elif method == "tools/call":
        call(id, params)
    else:
        reply(id, error={"code": -32601, "message": "Method not found"})
