import { createServerLog, type ServerLog } from '../platform/log/server-log.ts'
import type { Configuration } from './configuration.ts'

/** Opens the log at the level of the configuration: for people on a terminal, as JSON elsewhere. */
export const openLog = (
  { keeper }: Configuration,
  out: { readonly pretty: boolean; readonly to: number | ((text: string) => void) },
): ServerLog => createServerLog({ ...out, level: keeper.current().config.log.level })
