import { existsSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { parse } from 'yaml'
import { readConfigText } from '../../../src/platform/config/file.ts'
import { CONFIG_KEYS } from '../../../src/platform/config/keys.ts'
import { findTool } from '../../../src/server/mcp/tools/tools.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { asCodeDocument } from '../../../src/features/as-code/schema.ts'
import { readYaml } from '../../../src/platform/yaml/yaml.ts'
import { ROOT } from '../../tooling/root.ts'
import { textOf } from '../tracked-files.ts'
import { nothingYet, wrongCommands } from './commands.ts'
import type { Block } from './markdown.ts'
import { told, wrongWith } from './requests.ts'

/** What is wrong with a block that is no command. */
export function wrongSnippet(block: Block): string | null {
  const check = CHECKS[block.kind]
  return check === undefined
    ? `${block.kind === '' ? 'a block without a kind' : block.kind} is checked by nobody`
    : check(block)
}

const CHECKS: Readonly<Record<string, (block: Block) => string | null>> = {
  json: wrongJson,
  yaml: wrongYaml,
  http: wrongHttp,
  js: wrongProgram,
  ts: wrongProgram,
  mermaid: ({ text }) => (MERMAID.test(text) ? null : 'begins with no kind of picture'),
  // What a program printed is free; test/docs/written/who-runs.ts says who compares it.
  text: () => null,
  // Python itself checks its programs: test/docs/written/who-runs.ts says where.
  python: () => null,
  crontab: () => null,
  sh: () => null,
  console: () => null,
}

const MERMAID = /^(?:flowchart|sequenceDiagram|stateDiagram-v2|erDiagram|graph)\b/

function wrongJson({ text, marks }: Block): string | null {
  let value: unknown
  try {
    value = JSON.parse(text) as unknown
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const body = marks.find((mark) => mark.startsWith('body='))?.slice('body='.length)
  if (body !== undefined) return wrongBodyOf(body, value)
  if (marks.includes('call')) return wrongCall(value)
  return wrongProgramOfMcp(value)
}

function wrongBodyOf(name: string, value: unknown): string | null {
  const schema = (OPERATIONS as Readonly<Record<string, OperationSpec>>)[name]?.body
  return schema === undefined ? `no operation ${name} takes a body` : told(schema, value, () => false)
}

/** A call of a tool: its name, and what it is given. */
function wrongCall(value: unknown): string | null {
  const { name = '', arguments: given } = value as { readonly name?: string; readonly arguments?: unknown }
  const tool = findTool(name)
  return tool === undefined ? `there is no tool ${name}` : told(tool.input, given, () => false)
}

/** Settings of a client that starts us: the command has to exist. */
function wrongProgramOfMcp(value: unknown): string | null {
  const { mcpServers = {} } = value as { readonly mcpServers?: Readonly<Record<string, unknown>> }
  const wrong = Object.values(mcpServers).flatMap((one) => {
    const { command, args = [] } = one as { readonly command?: string; readonly args?: readonly string[] }
    return command === undefined ? [] : wrongCommands({ kind: 'sh', text: [command, ...args].join(' ') }, nothingYet())
  })
  return wrong[0] ?? null
}

/** Files of other programs, by what stands at their top. */
const OTHERS = [['scrape_configs'], ['on', 'env', 'jobs']]

function wrongYaml({ text, marks }: Block): string | null {
  const value = parse(text) as Readonly<Record<string, unknown>> | null
  if (value === null) return null
  const keys = Object.keys(value)
  if (OTHERS.some((other) => other.length === keys.length && other.every((key) => keys.includes(key))))
    return wrongSteps(text)
  if (keys.every((key) => Object.hasOwn(CONFIG_KEYS, key))) {
    const read = readConfigText(text)
    return read.ok ? null : read.flaws.map(({ line, message }) => `${line}: ${message}`).join('; ')
  }
  const read = readYaml([{ name: 'file', text }])
  if (!read.ok) return read.flaws.map(({ line, message }) => `${line}: ${message}`).join('; ')
  const wrong = told(asCodeDocument, read.value, () => false)
  // A guide may show what is refused, and then says so in the name of the file.
  if (marks.includes('file=wrong.yaml')) return wrong === null ? 'is called wrong, and is right' : null
  return wrong
}

/** The commands that a workflow runs. */
function wrongSteps(text: string): string | null {
  const lines = [...text.matchAll(/^\s*(?:- )?run: (.*)$/gm)].map(([, line = '']) => line)
  return wrongCommands({ kind: 'sh', text: lines.join('\n') }, nothingYet())[0] ?? null
}

function wrongHttp({ text }: Block): string | null {
  // A request that we send: test/integrations/webhook/guide.test.ts has it.
  if (/^\w+ \S+ HTTP\/1\.1$/m.test(text)) return null
  const requests = text.split(/^(?=[A-Z]+ )/m).map((request) => {
    const [, method = '', target = '', rest = ''] = /^([A-Z]+) +(\S+)([^]*)$/.exec(request) ?? []
    const body = rest.trim().startsWith('{') ? rest : null
    return { request, wrong: wrongWith({ method, target, body, headers: null }), sketch: !rest.startsWith('\n') }
  })
  // A list of requests says what each is for instead of what is sent.
  const found = requests.find(({ wrong, sketch }) => wrong !== null && !(sketch && wrong.endsWith('without its body')))
  return found?.wrong ?? null
}

const ENTRIES: Readonly<Record<string, string>> = {
  escapement: 'src/index.ts',
  'escapement/client': 'src/client/index.ts',
  'escapement/worker': 'src/client/worker/index.ts',
}

/** What the compiler says about the form of a program, and what it imports that is not there. */
function wrongProgram({ text, kind }: Block): string | null {
  const { diagnostics = [] } = ts.transpileModule(text, {
    fileName: `snippet.m${kind}`,
    reportDiagnostics: true,
    compilerOptions: { allowJs: true, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  })
  const [first] = diagnostics
  if (first !== undefined) return ts.flattenDiagnosticMessageText(first.messageText, '\n')
  return wrongImport(text)
}

const IMPORT = /^import (?:type )?\{([^}]*)\} from '([^']+)'/gm

function wrongImport(text: string): string | null {
  for (const [, names = '', from = ''] of text.matchAll(IMPORT)) {
    if (from.startsWith('.') && !existsSync(path.join(ROOT, from))) return `there is no ${from}`
    const entry = ENTRIES[from]
    if (entry === undefined && from.startsWith('escapement')) return `the package has no ${from}`
    const exported = entry === undefined ? null : textOf(entry)
    const lost = names
      .split(',')
      .map((name) => name.trim().replace(/^type | as .*$/g, ''))
      .find((name) => name !== '' && exported?.match(new RegExp(`\\b${name}\\b`)) === null)
    if (lost !== undefined) return `${from} exports no ${lost}`
  }
  return null
}
