import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

// Rules about how the program is written that no request can test: what is compared in constant time, where chance comes
// from, what is never switched off. A line that is an exception is in a list here, with its reason.

interface Line {
  readonly place: string
  readonly text: string
}

/** Every line of the program, without those that are comments. */
function linesOf(folder: string): readonly Line[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file))
    .flatMap((file) => {
      const place = path.join(folder, file).split(path.sep).join('/')
      const lines = readFileSync(path.join(ROOT, place), 'utf8').split('\n')
      return lines.map((text, index) => ({ place: `${place}:${index + 1}`, text: text.trim() }))
    })
    .filter(({ text }) => !/^(\/\/|\/?\*)/.test(text))
}

const LINES = [...linesOf('src'), ...linesOf('ui')]

/** Where a pattern stands, but for the lines that are known, as `file: line`. */
function findings(
  lines: readonly Line[],
  pattern: RegExp,
  known: Readonly<Record<string, string>> = {},
): readonly string[] {
  const isKnown = (place: string, text: string): boolean =>
    Object.keys(known).some((one) => {
      const [file = '', ...words] = one.split(' ')
      return (place.startsWith(`${file}:`) || place.startsWith(`${file}/`)) && text.includes(words.join(' '))
    })
  return lines
    .filter(({ place, text }) => pattern.test(text) && !isKnown(place, text))
    .map(({ place, text }) => `${place} ${text}`)
}

/** A comparison of two values, one of which is called as secrets are called. */
const SECRET_COMPARED =
  /(?:[\w.\])]*(?:token|secret|signature|password|cookie|csrf|digest|hmac|hash|keyText|apiKey)\w*(?:\(\))?\s*[!=]==\s*(?!null|undefined|true|false|''|'\*\*\*'|\d|typeof)[\w'"`([])|(?:[!=]==\s*\w*(?:token|secret|signature|password|cookie|csrf|digest|hmac|keyText)\w*\b(?!\.(?:length|kind|name|id)))/i

/** Comparisons that give nothing away, with why. `file words of the line`. */
const NO_SECRETS: Readonly<Record<string, string>> = {
  'src/features/channels/service.ts credentials.token !== kept.token':
    'both are the own org’s: whether a new bot takes the place of the old',
  'src/domain/schedule/pace/pace.ts digest === before':
    'the digest of an answer, compared with the one before to see whether it is new; it opens nothing',
  "src/server/rpc/frames.ts typeof token !== 'string' || !/^[":
    'whether it is a text and written as keys are; which key it is, is found by its hash',
  'src/domain/run/reports.ts token.attemptId':
    'the id of an attempt, which is no secret; the token itself was found by its hash',
}

describe('secrets', () => {
  it('are compared in constant time or found by their hash, never with ===', () => {
    expect(findings(LINES, SECRET_COMPARED, NO_SECRETS)).toEqual([])
  })

  it('would be found if somebody compared them so', () => {
    const wrong = [
      'if (token === given) return',
      'return signature !== expected',
      'if (req.csrfToken === header)',
      'a === secret',
    ]
    expect(
      findings(
        wrong.map((text) => ({ place: 'x:1', text })),
        SECRET_COMPARED,
      ),
    ).toHaveLength(wrong.length)
    const fine = ['if (token === null) return', "if (password === '') return", 'cookie === undefined']
    expect(
      findings(
        fine.map((text) => ({ place: 'x:1', text })),
        SECRET_COMPARED,
      ),
    ).toEqual([])
  })
})

/** Chance that decides when, never what: waiting times and retries. */
const WAITING: Readonly<Record<string, string>> = {
  'src/serve/first-start.ts Math.random()': 'how long until the database is tried again',
  'src/platform/db/embedded/embedded.ts Math.random': 'how long until the embedded server is joined again',
  'src/platform/db/postgres/postgres.ts Math.random': 'how long until a connection is tried again',
  'src/app.ts random: Math.random': 'jitter of retries and loops',
  'src/client/request.ts Math.random()': 'how long a client waits before it tries again',
  'src/client/events.ts Math.random()': 'how long a client waits before it listens again',
}

describe('chance', () => {
  it('that anybody could guess makes no id, no token and no key', () => {
    expect(findings(LINES, /Math\.random/, WAITING)).toEqual([])
  })

  it('of secrets is asked of the system for at least 24 bytes at a time', () => {
    const made = LINES.filter(({ text }) => /randomBytes\((\d+)\)/.test(text))
    expect(made.length).toBeGreaterThan(5)
    const short = made.filter(({ text }) => Number(/randomBytes\((\d+)\)/.exec(text)?.[1]) < 24)
    // Names of files that are being written, and of requests: they only must not be the same.
    const names = /draft|const moved|`req_|init-|randomBits\.set/
    expect(short.filter(({ text }) => !names.test(text))).toEqual([])
  })
})

/** Who speaks HTTP without the guard, and with whom. `file words of the line`. */
const OWN_REQUESTS: Readonly<Record<string, string>> = {
  'src/client': 'the client speaks with the server it was given',
  'ui/api': 'the console speaks with the server it came from',
  'src/platform/outbound': 'the way out itself: connections to addresses that were judged',
  'src/serve/address.ts': 'whoever has the port that the server was to listen on: is it Escapement?',
}

/** Texts in statements that no parameter can stand for: names that are quoted, and pieces of ours. */
const QUOTED: Readonly<Record<string, string>> = {
  'src/platform/db/migrate.ts quoteSchema(schema)': 'the schema the operator has named',
  'src/platform/db/postgres/postgres.ts listen ${quoteChannel(channel)}': 'a channel of ours',
  'src/platform/db/postgres/postgres.ts `listen ${name}`': 'the same, quoted a few lines above',
  'src/features/schedules/store.ts ${FILTER_SQL} ${owned}': 'a condition or nothing, written one line above',
}

/** Pieces of the table helper: they are made of the names that a table was declared with, and of numbers. */
const PIECE = String.raw`\w+\.(?:list|names|insert|insertMany|of\('\w+'\)|(?:assigned|params|arrays)\(\d+\))`
const STATEMENT_OF_TEXTS = new RegExp(String.raw`query\((?:[^)]|${PIECE})*\$\{(?!(?:[A-Z_]+|${PIECE})\})`)

/** Files that start programs, with which. */
const STARTS_PROGRAMS: Readonly<Record<string, string>> = {
  'src/executors/command/process.ts': 'programs the operator has listed, without a shell',
  'src/features/workers/cli.ts': 'the program of `escapement worker`, named by whoever starts it',
  'src/platform/db/embedded/server-process.ts': 'the embedded PostgreSQL and its initdb',
  'src/platform/db/embedded/pid-file.ts': 'ps, to see whose process it is',
}

describe('the program', () => {
  it.each<readonly [string, RegExp, Readonly<Record<string, string>>]>([
    [
      'believes every certificate',
      /rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity|insecureHTTPParser/,
      {},
    ],
    [
      'hands anything to a shell',
      /shell:(?!\s*false)|\bexecSync\(|(?<![.\w])exec\(['"`]/,
      { 'src/cli/completion.ts': 'the name of the reader’s shell' },
    ],
    ['makes a program of a text', /\beval\(|new Function\(|vm\.run|setTimeout\(['"`]/, {}],
    [
      'puts markup of others into a page',
      /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write/,
      {},
    ],
    ['opens itself for pages from elsewhere', /access-control-allow|@fastify\/cors/i, {}],
    ['believes what a proxy says about a client', /trustProxy|x-forwarded/i, {}],
    ['sends anybody anywhere', /\.redirect\(|header\(['"]location/i, {}],
    ['takes a key from an address', /query\.(api_?key|token|access_token)/i, {}],
    ['writes to a console of its own', /console\.(log|error|warn|info)\(/, {}],
    [
      'asks elsewhere without the guard',
      /(?<![.\w])fetch\(|\bhttps?\.(?:get|request)\(|import \{[^}]*\b(?:request|fetch|Pool|Agent)\b[^}]*\} from 'undici'/,
      OWN_REQUESTS,
    ],
    ['makes statements of texts of others', STATEMENT_OF_TEXTS, QUOTED],
  ])('nowhere %s', (_what, pattern, known) => {
    expect(findings(LINES, pattern, known)).toEqual([])
  })

  it('starts programs in a few places only', () => {
    const files = LINES.filter(({ text }) => text.includes('node:child_process')).map(
      ({ place }) => place.split(':')[0],
    )
    expect([...new Set(files)].toSorted()).toEqual(Object.keys(STARTS_PROGRAMS).toSorted())
  })
})
