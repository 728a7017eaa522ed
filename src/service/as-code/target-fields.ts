import { pick, type Fields } from '../../core/as-code/same.ts'
import { shownSettings } from '../../core/delivery/target-kinds.ts'
import type { TargetRow } from '../../store/targets.ts'

/** Every name of a target in a document but its id, in the order in which they are written. */
const TARGET_FIELDS = ['name', 'kind', 'url', 'settings', 'quiet_hours', 'alerts', 'enabled'] as const

/**
 * Whether somebody wants results to go there. One that was switched off because nothing arrived is still wanted; how it
 * fares is no matter of a document.
 */
const isWanted = ({ disabledAt, disabledWhy }: TargetRow): boolean => disabledAt === null || disabledWhy !== null

/** A target in the names of a document, with every default written out. */
export const targetFields = (row: TargetRow): Fields => ({
  ...{ name: row.name, kind: row.kind, url: row.url === '' ? null : row.url, settings: row.settings },
  ...{ quiet_hours: row.quietHours, alerts: row.alerts, enabled: isWanted(row) },
})

/** The same as it may be shown: an address that is enough to be let in is kept with only its beginning beside it. */
export const shownTarget = (row: TargetRow): Fields => ({
  ...targetFields(row),
  settings: shownSettings(row.kind, row.settings),
})

/** A target as a document says it: without what is usual, and without an address that is hidden. */
export const writtenTarget = (row: TargetRow): Fields =>
  pick(
    {
      name: row.name,
      ...(row.kind === 'webhook' ? {} : { kind: row.kind }),
      ...(row.url === '' || row.sealedUrl !== null ? {} : { url: row.url }),
      ...(Object.keys(row.settings).length === 0 ? {} : { settings: shownSettings(row.kind, row.settings) }),
      ...(row.quietHours === null ? {} : { quiet_hours: row.quietHours }),
      ...(row.alerts ? { alerts: true } : {}),
      ...(isWanted(row) ? {} : { enabled: false }),
    },
    TARGET_FIELDS,
  )
