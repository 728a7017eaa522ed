// `npm run docs`: writes the generated sections of the documents. The tests in test/docs compare the same texts.
import { writeFileSync } from 'node:fs'
import { TROUBLES } from '../dist/cli/doctor/troubles.js'
import { listCommands } from '../dist/cli/reference.js'
import { asCodeSchema } from '../dist/contract/as-code-schema.js'
import { CONFIG_KEYS } from '../dist/contract/config/keys.js'
import { keysOf } from '../dist/contract/config/tree.js'
import { codesOf, openApiOf } from '../dist/contract/openapi.js'
import { OPERATIONS } from '../dist/operations/table.js'
import { REFUSAL_CODES, REFUSAL_TITLES } from '../dist/contract/refusals.js'
import { RPC_ERRORS, rpcCodeOf } from '../dist/contract/rpc/errors.js'
import { POLICY_SETTINGS } from '../dist/contract/schedule-fields.js'
import { RPC_METHODS } from '../dist/http/rpc/methods.js'
import * as words from '../dist/contract/type-words.js'
import { effectivePermissions, PERMISSIONS } from '../dist/core/access.js'
import { EXECUTORS } from '../dist/core/executor/kinds.js'
import { ERROR_CODES } from '../dist/core/run/error-codes.js'
import { REASONS } from '../dist/core/reasons.js'
import { renderRunStates } from '../dist/core/run/run-machine.js'
import { listTools } from '../dist/mcp/listed.js'
import { METRICS } from '../dist/metrics/catalogue.js'
import { readCoverage } from './docs/coverage.mjs'
import { compareSection, SECTIONS } from './docs/sections.mjs'

const core = {
  ERROR_CODES,
  EXECUTORS,
  REASONS,
  renderRunStates,
  PERMISSIONS,
  effectivePermissions,
  OPERATIONS,
  openApiOf,
  codesOf,
  words,
  REFUSAL_CODES,
  REFUSAL_TITLES,
  METRICS,
  POLICY_SETTINGS,
  RPC_METHODS,
  RPC_ERRORS,
  rpcCodeOf,
  listCommands,
  listTools,
  asCodeSchema,
  TROUBLES,
  settings: keysOf(CONFIG_KEYS),
  coverage: await readCoverage(),
}

for (const section of SECTIONS) {
  const { filepath, current, fresh } = await compareSection(section, core)
  if (fresh !== current) writeFileSync(filepath, fresh)
  process.stdout.write(`${fresh === current ? 'unchanged' : 'written  '}  ${section.file} (${section.name})\n`)
}
