import { readYaml, writeYaml } from '../../../src/platform/yaml/yaml.ts'
import { asText, must, mustAgree, plain, type Target } from './target.ts'
import { YAML_WORDS } from './yaml-words.ts'

const FILES = [
  'version: 1\nschedules:\n  - &one { name: A, cron: "0 9 * * *" }\n  - <<: *one\n    name: B\n',
  'version: 1\nagents: [{ name: a, executor: { kind: echo } }]\n---\nagents:\n  - name: b\n',
  'schedules:\n  - name: A\n    payload:\n      prompt: |\n        Look.\n\n        Again.\n',
  '{"version": 1, "budgets": [{"unit": "tokens", "amount": 1e5}]}',
  'a: &a [x, x]\nb: &b [*a, *a]\nschedules: [*b, *b]\n',
]

/** Files of schedules as code: whatever is read can be written and read again, and whatever is wrong has its place. */
export const files: Target = {
  name: 'files of schedules as code',
  words: [
    ...YAML_WORDS,
    ...['schedules:', 'agents:', '\n\t', '<<: [*a]', '|+2', '>-', '__proto__: ', '\u2028', '\ufeff', '\r', 'null: '],
  ],
  draw: (random) => random.one(FILES),
  mostMs: 1_500,
  attempt: (input) => {
    const text = asText(input)
    const read = readYaml([{ name: 'f', text }])
    if (!read.ok) {
      must(read.flaws.length > 0, 'what is refused has a flaw')
      for (const { line, column, message } of read.flaws)
        must(line >= 1 && column >= 1 && message !== '', 'a flaw has a place and says something')
      return `refused ${plain(read.flaws[0]?.message ?? '')}`
    }
    const { line = 1, column = 1 } = read.positionOf('/schedules/0/name') ?? {}
    must(line >= 1 && column >= 1, 'everything has a place, or none')
    // What begins a file may be a mark of its encoding; below a comment it is a text like any other.
    const again = readYaml([{ name: 'f', text: writeYaml(read.value, { comment: ['again'] }) }])
    mustAgree(again.ok ? again.value : again.flaws, read.value, 'what is written is read again as it was')
    return 'taken'
  },
}
