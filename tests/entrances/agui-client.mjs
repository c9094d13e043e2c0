// Speaks to a served /agui as a page would: node agui-client.mjs CLIENT_FOLDER URL
// The model of the server calls a tool, asks a question and then says "all done".
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, url] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), "package.json"));
const { HttpAgent } = await import(pathToFileURL(require.resolve("@ag-ui/client")).href);

const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(words.map(String).join(" "));
}

async function run(agent, parameters) {
  const ends = [];
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => {
      if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") ends.push(event);
    },
    onRunFailed: ({ error }) => assert.fail(`the run failed in the client: ${error}`),
  });
  assert.equal(ends.length, 1, "one last event");
  return ends[0];
}

const agent = new HttpAgent({ url, threadId: "page" });
agent.addMessage({ id: "u1", role: "user", content: "go" });
const asked = await run(agent, {});
assert.equal(asked.type, "RUN_FINISHED", JSON.stringify(asked));
assert.equal(asked.outcome.type, "interrupt");
const [interrupt] = asked.outcome.interrupts;
assert.equal(interrupt.toolCallId, "question");

const resume = [{ interruptId: interrupt.id, status: "resolved", payload: "blue" }];
const end = await run(agent, { resume });
assert.equal(end.type, "RUN_FINISHED", JSON.stringify(end));
assert.equal(end.outcome.type, "success");

const results = agent.messages.filter((message) => message.role === "tool");
assert.deepEqual(results.map((message) => message.toolCallId).sort(), ["pure", "question"]);
const { answer } = JSON.parse(results.find((message) => message.toolCallId === "question").content);
assert.equal(answer, "blue");
assert.equal(agent.messages.at(-1).content, "all done");
const ids = agent.messages.map((message) => message.id);
assert.equal(new Set(ids).size, ids.length, "no id is used twice");
assert.deepEqual(complaints, []);
