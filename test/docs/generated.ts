import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DOCTOR_PROBLEMS } from '../../src/cli/doctor/problems.ts'
import { listCommands } from '../../src/cli/program.ts'
import { asCodeSchema } from '../../src/features/as-code/schema.ts'
import { CONFIG_KEYS } from '../../src/platform/config/keys.ts'
import { keysOf } from '../../src/platform/config/tree.ts'
import { errorCodesOf, openApiOf } from '../../src/operations/openapi.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { REFUSAL_CODES, REFUSAL_TITLES } from '../../src/api/refusals.ts'
import { RPC_ERRORS, rpcCodeOf } from '../../src/server/rpc/schema.ts'
import { POLICY_SETTINGS } from '../../src/features/schedules/schema.ts'
import { RPC_METHODS } from '../../src/server/rpc/methods.ts'
import * as words from '../../src/api/enum-words.ts'
import { effectivePermissions, PERMISSIONS } from '../../src/domain/access/access.ts'
import { ERROR_CODES } from '../../src/domain/run/error-codes.ts'
import { LIST_PRICES, PRICES_AS_OF } from '../../src/executors/chat/prices.ts'
import { EXECUTORS } from '../../src/executors/kinds.ts'
import { REASONS } from '../../src/domain/reasons.ts'
import { renderRunStates } from '../../src/domain/run/run-machine.ts'
import { listTools } from '../../src/server/mcp/server.ts'
import { METRICS } from '../../src/server/metrics/catalogue.ts'
import { ROOT } from '../tooling/root.ts'

interface Section {
  readonly name: string
  readonly file: string
}

interface Generator {
  readonly SECTIONS: readonly Section[]
  readonly compareSection: (
    section: Section,
    core: object,
  ) => Promise<{ readonly current: string; readonly fresh: string }>
  readonly replaceSection: (text: string, name: string, body: string) => string
}

/** The code behind `npm run docs`. */
export const generator = (await import(pathToFileURL(path.join(ROOT, 'scripts/docs/sections.mjs')).href)) as Generator

/** One generated section as it stands in its document, and as `npm run docs` would write it from these sources. */
export function compare(
  name: string,
  /** What a section needs that is not part of the program. */
  more: object = {},
): Promise<{ readonly current: string; readonly fresh: string }> {
  const section = generator.SECTIONS.find((candidate) => candidate.name === name)
  if (section === undefined) throw new Error(`no generated section ${name}`)
  return generator.compareSection(section, {
    ERROR_CODES,
    EXECUTORS,
    ...{ LIST_PRICES, PRICES_AS_OF },
    REASONS,
    renderRunStates,
    PERMISSIONS,
    effectivePermissions,
    OPERATIONS,
    ...{ openApiOf, codesOf: errorCodesOf, words, REFUSAL_CODES, REFUSAL_TITLES },
    ...{ METRICS, POLICY_SETTINGS, RPC_METHODS, RPC_ERRORS, rpcCodeOf },
    listCommands,
    ...{ listTools, asCodeSchema, TROUBLES: DOCTOR_PROBLEMS },
    settings: keysOf(CONFIG_KEYS),
    ...more,
  })
}
