import type { BackfillView } from '../../../../src/features/backfill/schema.ts'
import { useSay } from '../../../texts/TextProvider.tsx'

const STANDINGS = ['succeeded', 'pending', 'failed', 'cancelled', 'not_run'] as const

/** What a backfill leaves out, in words. */
export function useLeftOut(): (counts: BackfillView['left_out']) => string {
  const say = useSay()
  return (counts) => {
    const told = STANDINGS.filter((standing) => counts[standing] > 0)
    if (told.length === 0) return say('backfill.leftOut.none')
    return told.map((standing) => say(`backfill.leftOut.${standing}`, { count: counts[standing] })).join(', ')
  }
}
