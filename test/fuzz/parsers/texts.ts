import { readVariables } from '../../../src/platform/config/environment.ts'
import { readConfigText } from '../../../src/platform/config/file.ts'
import { splitText } from '../../../src/domain/channel/reply.ts'
import {
  asText as written,
  fillJson,
  fillUrl,
  parseUrlTemplate,
  templateFlaws,
} from '../../../src/executors/template.ts'
import { findAcknowledgement, trimBlank } from '../../../src/domain/heartbeat/acknowledgement.ts'
import { hasMeaningfulContent } from '../../../src/domain/heartbeat/heartbeat.ts'
import { createMask, createStreamMask } from '../../../src/domain/secret/mask.ts'
import { secretNamesIn } from '../../../src/domain/secret/secret-names.ts'
import { parseSessionCommand } from '../../../src/domain/session/stop.ts'
import { parseSessionKey } from '../../../src/domain/input-fields.ts'
import type { Random } from '../../simulation/random.ts'
import { asFields, asText, classOf, must, mustAgree, plain, type Target } from './target.ts'
import { YAML_WORDS } from './yaml-words.ts'

const CONFIG_TEXTS = [
  'tasks: { max_queue: 500, max_per_agent: 50 }\nlanes:\n  main: 30\n  fast: 4\n',
  'server:\n  host: 127.0.0.1\n  port: 7420\n  allowed_hosts: [a.example.com]\n# nothing\nlog: { level: debug }\n',
  'retry:\n  base_ms: 2s\n  max_ms: 1m\nsessions:\n  debounce_ms: 0\n  drop: new\n',
  '{"schedules": {"default_timezone": "Europe/Berlin", "poll_ms": 500}}',
  'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n',
]

const config: Target = {
  name: 'configuration file',
  words: [...YAML_WORDS, 'tasks:', 'lanes:', 'server:', '>', '.nan', '!!js/function'],
  draw: (random) => random.one(CONFIG_TEXTS),
  mostMs: 1_500,
  attempt: (input) => {
    const read = readConfigText(asText(input))
    if (read.ok) {
      mustAgree([...(readAgain(input) ?? [])], [...read.layer.values], 'the same text is read the same way')
      return 'taken'
    }
    must(read.flaws.length > 0, 'what is refused has a flaw')
    for (const { line, message } of read.flaws)
      must(line >= 1 && message !== '', 'a flaw has a line and says something')
    return `refused ${plain(read.flaws[0]?.message ?? '')}`
  },
}

function readAgain(input: unknown): ReadonlyMap<string, unknown> | null {
  const read = readConfigText(asText(input))
  return read.ok ? read.layer.values : null
}

const variables: Target = {
  name: 'environment',
  words: [
    'ESCAPEMENT_',
    'ESCAPEMENT_LANE_',
    'GOCLAW_LANE_MAIN',
    'ESCAPEMENT_TASKS_MAX_QUEUE',
    '1h30m',
    '-1',
    '[]',
    'true',
  ],
  draw: (random) => ({
    [random.one(['ESCAPEMENT_TASKS_MAX_QUEUE', 'ESCAPEMENT_LANE_MAIN', 'ESCAPEMENT_SERVER_ALLOWED_HOSTS'])]: random.one(
      [...['5', '0', '30m', '["a"]', 'a,b', '', ' ']],
    ),
    [random.one(['ESCAPEMENT_TASKS_MAX_QEUE', 'GOCLAW_LANE_DELEGATE', 'ESCAPEMENT_NODE_LEASE_MS'])]: '15s',
  }),
  attempt: (input) => {
    const texts = Object.entries(asFields(input)).map(([name, value]) => [name, asText(value)] as const)
    const read = readVariables(Object.fromEntries(texts))
    return `${read.flaws.length > 0 ? 'flaws' : 'none wrong'}, ${read.warnings.length > 0 ? 'warned' : 'quiet'}`
  },
}

const session: Target = {
  name: 'session key and command',
  words: ['agent:', ':', '/stop', '/stopall', '/STOP@bot', '@', '/', ' ', 'main', 'ü'],
  draw: (random) => random.one(['agent:writer:main', '/stop', '/stopall@Bot', ' /StopAll ', 'agent:a:telegram:dm:1/2']),
  attempt: (input) => {
    const command = parseSessionCommand(asText(input))
    return `${command ?? 'no command'}, ${classOf(parseSessionKey('session', input))}`
  },
}

const REPLIES = [
  '**HEARTBEAT_OK**',
  'All well. HEARTBEAT_OK',
  '```\nHEARTBEAT_OK\n```',
  '<b>HEARTBEAT_OK</b> – a b',
  'x',
]

const acknowledgement: Target = {
  name: 'acknowledgement',
  words: [
    'HEARTBEAT_OK',
    '**',
    '_',
    '`',
    '```\n',
    '~~~',
    '<b>',
    '</b>',
    '- ',
    '—',
    '.',
    '“',
    '”',
    '(',
    ')',
    '中',
    '\n',
  ],
  draw: (random) => random.one(REPLIES),
  attempt: (input) => {
    const reply = asText(input)
    const found = findAcknowledgement(reply)
    if (found === null) return reply.includes('HEARTBEAT_OK') ? 'inside a sentence' : 'none'
    must(reply.includes('HEARTBEAT_OK'), 'only what says so acknowledges')
    // Marks whose counterparts stay are brought back around the rest; more than that is never added.
    must(found.other.length <= reply.length + 8, 'nothing is added to the rest of a reply')
    must(trimBlank(found.other) === found.other, 'the rest has no blank space at its ends')
    return found.other === '' ? 'nothing else' : 'something else'
  },
}

const CHECKLISTS = [
  '# Checks\n\n- [ ] mail\n',
  '<!-- none -->\n- [ ]\n***\n',
  '```\ncode\n```',
  '> - 1. [x]\n',
  'Title\n=====\n',
]

const checklist: Target = {
  name: 'checklist',
  words: [
    '# ',
    '- ',
    '[ ]',
    '[x] ',
    '> ',
    '```',
    '~~~',
    '<!--',
    '-->',
    '***',
    '---',
    '===',
    '\n',
    '1. ',
    '\u200b',
    '\r',
  ],
  draw: (random) => random.one(CHECKLISTS),
  attempt: (input) => {
    const text = asText(input)
    const asks = hasMeaningfulContent(text)
    if (text.trim() === '') must(!asks, 'nothing asks for nothing')
    return asks ? 'asks' : 'asks nothing'
  },
}

const split: Target = {
  name: 'long messages',
  words: ['\n\n', '\n', ' ', '😀', 'word', '\ud83d', '\u00a0'],
  draw: (random) => `${random.one(['word ', 'line\n', 'a\n\nb ', '😀', 'x']).repeat(random.int(1, 60))}end`,
  attempt: (input) => {
    const text = asText(input)
    const pieces = splitText(text, 64)
    for (const piece of pieces) must(piece.length <= 64, 'no piece is too long')
    const shown = (whole: string): string => whole.replaceAll(/\s+/g, '')
    must(shown(pieces.join('')) === shown(text), 'nothing is lost but blank space')
    return pieces.length === 1 ? 'one' : 'several'
  },
}

const VALUES = {
  ...{ run_id: 'run_1', job_run_id: 'run_1', scheduled_time: '2026-01-15T00:00:00Z', attempt: 1 },
  payload: { x: 'a/b?c#d', n: 5, deep: { y: ['\ud83d', '..', '%2e'] }, '': 1 },
  secrets: { TOKEN: 'a value to hide' },
}

const template: Target = {
  name: 'template',
  words: [
    '{{',
    '}}',
    '{{payload.x}}',
    '{{secret:TOKEN}}',
    '{{run_id}}',
    '{{ attempt }}',
    '{{payload.deep.y}}',
    '.',
    '/',
    '..',
  ],
  draw: (random) =>
    random.one([
      ...[
        'https://example.com/{{payload.x}}/{{run_id}}?q={{payload.deep}}',
        'Bearer {{secret:TOKEN}}',
        '{{payload.n}}',
      ],
      ...['https://example.com/a/../{{payload.deep.y}}', 'http://{{payload.x}}/', '{{payload.__proto__.x}}'],
    ]),
  attempt: (input) => {
    const text = asText(input)
    const [flaws, url] = [templateFlaws('body', text, { secrets: true }), parseUrlTemplate('url', text)]
    const filled = fillJson(input, VALUES)
    must(
      flaws.length > 0 || text.includes('[object Object]') || !written(filled).includes('[object Object]'),
      'what is filled in is written as JSON',
    )
    secretNamesIn(input)
    const address = url.ok ? fillUrl(url.value, VALUES) : null
    if (url.ok && address !== null && URL.canParse(url.value))
      must(new URL(address).origin === new URL(url.value).origin, 'no value decides whom we talk to')
    return `${flaws.length > 0 ? 'stands for nothing' : 'filled'}, ${url.ok ? (address === null ? 'leads out' : 'an address') : 'no address'}`
  },
}

const SECRET = 'correct horse battery'

const hidden = (random: Random): string =>
  random.one([
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(`user:${SECRET}`).toString('base64'),
    JSON.stringify(SECRET),
  ])

const mask: Target = {
  name: 'masking',
  words: [SECRET, 'correct', ' horse', encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64'), '***'],
  draw: (random) => `${random.one(['', 'a ', '😀'])}${hidden(random)}${random.one(['', ' b', '=='])}`,
  attempt: (input) => {
    const whole = createMask([SECRET])
    must(!written(whole.value(input)).includes(SECRET), 'a secret is never shown')
    const text = asText(input)
    const stream = createStreamMask([SECRET])
    const half = Math.floor(text.length / 2)
    const shown = stream.push(text.slice(0, half)) + stream.push(text.slice(half)) + stream.end()
    must(!shown.includes(SECRET), 'a secret is never shown in pieces')
    return shown === text ? 'nothing to hide' : 'hidden'
  },
}

/** Everything that reads texts. */
export const TEXT_TARGETS: readonly Target[] = [
  ...[config, variables, session, acknowledgement, checklist, split, template, mask],
]
