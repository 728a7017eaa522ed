import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import prettier from 'prettier'
import { renderApi, renderPermissionOperations, renderRefusals } from './api.mjs'
import { renderCommands } from './commands.mjs'
import { renderCoverage } from './coverage.mjs'
import { renderTools } from './mcp.mjs'
import { drawImports } from './picture.mjs'
import { renderPythonClient, renderPythonTypes } from './python.mjs'
import { renderRoutes } from './routes.mjs'
import { renderMetrics, renderRpcErrors, renderRpcMethods } from './observed.mjs'
import {
  renderErrorCodes,
  renderExecutors,
  renderPermissions,
  renderPolicySettings,
  renderReasons,
  renderSettings,
  renderTimeouts,
  renderTroubles,
} from './tables.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** The markers of a generated section, in documents and in sources. */
const MARKS = {
  '.md': { open: (name) => `<!-- generated:${name} -->`, close: '<!-- /generated -->' },
  '.ts': { open: (name) => `// generated:${name}`, close: '// /generated' },
}

/**
 * Every generated section: its file, and the function that renders it from the tables of the core. The core is an
 * argument, because the command imports it from dist/ and the tests import it from src/.
 */
export const SECTIONS = [
  { name: 'imports', file: 'docs/architecture.md', render: () => drawImports() },
  { name: 'run-states', file: 'docs/run-states.md', render: (core) => core.renderRunStates() },
  { name: 'reasons', file: 'docs/reference/reasons.md', render: (core) => renderReasons(core.REASONS) },
  { name: 'executors', file: 'docs/concepts/agents.md', render: (core) => renderExecutors(core.EXECUTORS) },
  {
    name: 'policy-settings',
    file: 'docs/concepts/schedules.md',
    render: (core) => renderPolicySettings(core.POLICY_SETTINGS),
  },
  { name: 'timeouts', file: 'docs/concepts/runs.md', render: (core) => renderTimeouts(core.EXECUTORS) },
  { name: 'error-codes', file: 'docs/reference/error-codes.md', render: (core) => renderErrorCodes(core.ERROR_CODES) },
  {
    name: 'permissions',
    file: 'docs/reference/permissions.md',
    render: (core) => renderPermissions(core.PERMISSIONS, core.effectivePermissions),
  },
  {
    name: 'permission-operations',
    file: 'docs/reference/permissions.md',
    render: (core) => renderPermissionOperations(core.PERMISSIONS, core.OPERATIONS),
  },
  { name: 'refusals', file: 'docs/reference/error-codes.md', render: renderRefusals },
  { name: 'api', file: 'docs/reference/api.md', render: renderApi },
  { name: 'config', file: 'docs/reference/config.md', render: (core) => renderSettings(core.settings) },
  {
    name: 'commands',
    file: 'docs/reference/cli.md',
    render: async (core) => renderCommands(await core.listCommands()),
  },
  { name: 'metrics', file: 'docs/reference/metrics.md', render: (core) => renderMetrics(core.METRICS) },
  { name: 'rpc-methods', file: 'docs/reference/rpc.md', render: (core) => renderRpcMethods(core.RPC_METHODS) },
  { name: 'rpc-errors', file: 'docs/reference/rpc.md', render: (core) => renderRpcErrors(core) },
  { name: 'mcp-tools', file: 'docs/reference/mcp.md', render: (core) => renderTools(core.listTools()) },
  { name: 'doctor', file: 'docs/guides/troubleshoot.md', render: (core) => renderTroubles(core.TROUBLES) },
  { name: 'coverage', file: 'docs/coverage.md', render: (core) => renderCoverage(core.coverage) },
  { name: 'routes', file: 'src/client/routes.ts', render: (core) => renderRoutes(core.OPERATIONS) },
  { name: 'python-types', file: 'clients/python/escapement/types.py', render: renderPythonTypes },
  { name: 'python-client', file: 'clients/python/escapement/client.py', render: renderPythonClient },
  {
    name: 'as-code-schema',
    file: 'schema/escapement.schema.json',
    render: (core) => JSON.stringify(core.asCodeSchema()),
  },
]

/** The current document of a section, and the document as it would be written now. */
export async function compareSection({ name, file, render }, core) {
  const filepath = path.join(root, file)
  const current = readFileSync(filepath, 'utf8')
  const text = await render(core)
  // Prettier does not know Python.
  if (path.extname(file) === '.py') return { filepath, current, fresh: text }
  // JSON has no comments for markers, so such a file is generated as a whole.
  const isWhole = path.extname(file) === '.json'
  const written = isWhole ? text : replaceBetween(current, boundsOf(name, path.extname(file)), text)
  // Format the text, so that `prettier --check` accepts it.
  const fresh = await prettier.format(written, { ...(await prettier.resolveConfig(filepath)), filepath })
  return { filepath, current, fresh }
}

/** The document with the text between the markers of a section replaced. */
export const replaceSection = (text, name, body) => replaceBetween(text, boundsOf(name, '.md'), body)

/** The markers of a section in files with this extension. */
const boundsOf = (name, extension) => ({ open: MARKS[extension].open(name), close: MARKS[extension].close })

function replaceBetween(text, { open, close }, body) {
  const start = text.indexOf(open)
  const end = text.indexOf(close, start)
  if (start === -1 || end === -1) throw new Error(`no section ${open} … ${close}`)
  return `${text.slice(0, start + open.length)}\n\n${body.trim()}\n\n${text.slice(end)}`
}
