// `npm run docs`: writes the generated sections of the documents. The tests in test/docs compare the same texts.
import { writeFileSync } from 'node:fs'
import { DOCTOR_PROBLEMS } from '../dist/cli/doctor/problems.js'
import { listCommands } from '../dist/cli/program.js'
import { asCodeSchema } from '../dist/features/as-code/schema.js'
import { CONFIG_KEYS } from '../dist/platform/config/keys.js'
import { keysOf } from '../dist/platform/config/tree.js'
import { errorCodesOf, openApiOf } from '../dist/operations/openapi.js'
import { OPERATIONS } from '../dist/operations/table.js'
import { REFUSAL_CODES, REFUSAL_TITLES } from '../dist/api/refusals.js'
import { RPC_ERRORS, rpcCodeOf } from '../dist/server/rpc/schema.js'
import { POLICY_SETTINGS } from '../dist/features/schedules/schema.js'
import { RPC_METHODS } from '../dist/server/rpc/methods.js'
import * as words from '../dist/api/enum-words.js'
import { effectivePermissions, PERMISSIONS } from '../dist/domain/access/access.js'
import { LIST_PRICES, PRICES_AS_OF } from '../dist/executors/chat/prices.js'
import { EXECUTORS } from '../dist/executors/kinds.js'
import { ERROR_CODES } from '../dist/domain/run/error-codes.js'
import { REASONS } from '../dist/domain/reasons.js'
import { renderRunStates } from '../dist/domain/run/run-machine.js'
import { listTools } from '../dist/server/mcp/server.js'
import { METRICS } from '../dist/server/metrics/catalogue.js'
import { readCoverage } from './docs/coverage.mjs'
import { compareSection, SECTIONS } from './docs/sections.mjs'

const core = {
  ERROR_CODES,
  EXECUTORS,
  LIST_PRICES,
  PRICES_AS_OF,
  REASONS,
  renderRunStates,
  PERMISSIONS,
  effectivePermissions,
  OPERATIONS,
  openApiOf,
  codesOf: errorCodesOf,
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
  TROUBLES: DOCTOR_PROBLEMS,
  settings: keysOf(CONFIG_KEYS),
  coverage: await readCoverage(),
}

for (const section of SECTIONS) {
  const { filepath, current, fresh } = await compareSection(section, core)
  if (fresh !== current) writeFileSync(filepath, fresh)
  process.stdout.write(`${fresh === current ? 'unchanged' : 'written  '}  ${section.file} (${section.name})\n`)
}
