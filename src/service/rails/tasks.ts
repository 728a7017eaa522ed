import { breach } from '../../core/rails/breach.ts'
import { judgeDepth } from '../../core/rails/judge-making.ts'
import type { RailAct } from '../../features/access/restrictions-store.ts'
import type { Caller } from '../caller.ts'
import type { Work } from '../turn-port.ts'
import { railedWork, requireRate, type AtWork } from './making.ts'
import { railRefusal, refuse } from './refusals.ts'

/** Judges work that begins at once: nobody could approve it before it does. */
async function judgeAtOnce(at: AtWork, more: number): Promise<void> {
  const { railed } = at
  if (railed.rails.approval)
    throw railRefusal(
      breach('approval', 'What this key makes has to be approved, and this would begin at once; make a schedule of it'),
    )
  refuse(judgeDepth(railed))
  await requireRate(at, more)
}

const actOf = (kind: 'task' | 'message'): RailAct => ({ kind, scheduleId: null, moment: null })

/** Tasks of somebody with guard rails; anybody else's are left as they are. */
export const railedTasks = <Answer>(work: Work<Answer>, caller: Pick<Caller, 'railed'>, count = 1): Work<Answer> =>
  railedWork(work, caller, {
    judge: (at) => judgeAtOnce(at, count),
    acts: () => Array.from({ length: count }, () => actOf('task')),
  })

/** The same for a message. */
export const railedMessage = <Answer>(work: Work<Answer>, caller: Pick<Caller, 'railed'>): Work<Answer> =>
  railedWork(work, caller, { judge: (at) => judgeAtOnce(at, 1), acts: () => [actOf('message')] })
