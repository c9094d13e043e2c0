// Drives a served /agui with a real AG-UI client: node agui.mjs CLIENT_FOLDER URL ERA
// Says what went wrong on stderr and ends with 1; ends with 0 when all held.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [folder, url, era] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), "package.json"));
const { HttpAgent } = await import(pathToFileURL(require.resolve("@ag-ui/client")).href);

const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(words.map(String).join(" "));
}

let next = 0;
const says = (content) => ({ id: `u${++next}`, role: "user", content });

async function run(agent, parameters = {}) {
  const seen = { events: [], terminal: [] };
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => {
      seen.events.push(event.type);
      if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") seen.terminal.push(event);
    },
    onRunFailed: ({ error }) => assert.fail(`the run failed in the client: ${error}`),
  });
  assert.equal(seen.terminal.length, 1, `one terminal event: ${seen.events}`);
  seen.end = seen.terminal[0];
  return seen;
}

const text = (message) => message.content;
const agent = new HttpAgent({ url, threadId: `peer-${era}` });

// Words.
agent.addMessage(says("hello"));
let told = await run(agent);
assert.equal(told.end.type, "RUN_FINISHED");
assert.deepEqual(agent.messages.map((m) => m.role), ["user", "assistant"]);
assert.equal(text(agent.messages[1]), "you said: hello");

// Calls, one of which fails and one of which prints, in the same thread.
agent.addMessage(says("call prints {}\ncall fails {}\ncall echo {\"n\":1}"));
told = await run(agent);
assert.equal(told.end.type, "RUN_FINISHED");
const results = agent.messages.filter((m) => m.role === "tool");
assert.equal(results.length, 3);
const echoed = results.find((m) => text(m) === '{"n":1}');
assert.ok(echoed, JSON.stringify(results));
if (era === "one") assert.equal(echoed.metadata.outfitter.tool_name, "echo");
const asked = agent.messages.find((m) => m.toolCalls?.length === 3);
for (const call of asked.toolCalls) JSON.parse(call.function.arguments);
assert.equal(text(agent.messages.at(-1)), "done");
// No text is doubled and no id is used twice.
assert.equal(text(agent.messages[1]), "you said: hello");
const ids = agent.messages.map((m) => m.id);
assert.equal(new Set(ids).size, ids.length);

// A question and an approval, answered together.
agent.addMessage(says("call ask {\"n\":5}\ncall risky {}"));
told = await run(agent);
assert.equal(told.end.type, "RUN_FINISHED");
assert.equal(told.end.outcome.type, "interrupt");
const open = told.end.outcome.interrupts;
assert.equal(open.length, 2);
if (era === "one") {
  assert.equal(agent.pendingInterrupts.length, 2);
  // The client itself guards against going on without answers.
  await assert.rejects(agent.runAgent({}));
}
const resume = open.map((interrupt) => ({
  interruptId: interrupt.id,
  status: "resolved",
  payload: interrupt.reason === "tool_call" ? { approved: true } : "yes",
}));
told = await run(agent, { resume });
assert.equal(told.end.type, "RUN_FINISHED");
assert.notEqual(told.end.outcome?.type, "interrupt");
assert.equal(text(agent.messages.at(-1)), "done");
assert.equal(agent.messages.filter((m) => m.role === "tool").length, 5);
assert.ok(agent.messages.some((m) => text(m) === '{"answer":"yes"}'));

// A picture is refused with an error that the client takes as one.
agent.addMessage({ id: "picture", role: "user", content: [
  { type: "text", text: "what is it?" },
  { type: "image", source: { type: "url", value: "https://example.org/x.png" } },
] });
if (era === "one") {
  told = await run(agent);
  assert.equal(told.end.type, "RUN_ERROR");
  assert.equal(told.end.code, "invalid_arguments");
}

const guarded = complaints.filter((words) => !words.includes("pending interrupt"));
if (guarded.length > 0) {
  process.stderr.write(`the client complained:\n${guarded.join("\n")}\n`);
  process.exit(1);
}
