import { describe, expect, it } from 'vitest'
import { blocksIn, blocksOf, documents } from './written/markdown.ts'
import { wrongSnippet } from './written/snippets.ts'

// Whatever stands in a block can be read by whom it is for: settings by our reader, bodies by their operation.

describe('the snippets of documents', () => {
  it('are what they say they are', () => {
    const wrong = documents()
      .flatMap(blocksOf)
      .flatMap((block) => {
        const flaw = wrongSnippet(block)
        return flaw === null ? [] : [`${block.document}:${block.line} ${block.kind}: ${flaw}`]
      })
    expect(wrong).toEqual([])
  })

  it.each([
    ['json', '{"a": 1,}', 'JSON'],
    ['json body=agents.create', '{"id": "a", "nam": "A"}', 'nam'],
    ['json body=agents.crate', '{}', 'no operation agents.crate'],
    ['json call', '{"name": "schedule_lst", "arguments": {}}', 'no tool schedule_lst'],
    ['json call', '{"name": "schedule_list", "arguments": {"limit": "x"}}', 'limit'],
    ['json', '{"mcpServers": {"a": {"command": "escapement", "args": ["mpc"]}}}', 'mpc'],
    ['yaml', 'server: { prt: 7420 }', 'prt'],
    ['yaml', 'version: 1\nschedules:\n  - name: A\n    crom: "* * * * *"', 'crom'],
    ['yaml file=wrong.yaml', 'version: 1\nschedules:\n  - name: A\n    every_seconds: 1h', 'is right'],
    ['yaml', 'a: [', ''],
    ['yaml', 'on: push\nenv: {}\njobs:\n  a:\n    - run: escapement aply', 'aply'],
    ['http', 'POST /api/v1/key\n{"name": "a"}', 'no operation'],
    ['http', 'POST /api/v1/keys\n{"nam": "a"}', 'nam'],
    ['http', 'GET /api/v1/keys   all of them\nGET /api/v1/kys   others', 'no operation answers GET /api/v1/kys'],
    ['js', 'const a = ', 'expected'],
    ['js', "import { createEscapment } from 'escapement'", 'exports no createEscapment'],
    ['ts', "import { startWorker } from 'escapement/workers'", 'has no escapement/workers'],
    ['mermaid', 'flow TD', 'no kind of picture'],
    ['bash', 'ls', 'checked by nobody'],
    ['', 'ls', 'without a kind'],
  ])('would be caught: %s %j', (told, text, wrong) => {
    const flaws = blocksIn('a.md', `\`\`\`${told}\n${text}\n\`\`\`\n`).map((block) => {
      try {
        return wrongSnippet(block)
      } catch (error) {
        return String(error)
      }
    })
    expect(flaws).toEqual([expect.stringContaining(wrong)])
  })
})
