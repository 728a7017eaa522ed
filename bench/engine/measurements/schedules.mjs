// In the process of a contestant: many schedules due at the same time, and how late the last of them starts.
import { quantile } from '../statistics.mjs'
import { until } from '../world.mjs'
import { load } from './opening.mjs'

/** Waits for the due time and for all starts, at most until `timeoutMs` after the due time. */
export async function schedules({ contestant, url, count, timeoutMs, ...rest }) {
  const { prepare, dueTogether } = await load(contestant)
  await prepare(url)
  const starts = []
  const handle = () => {
    starts.push(Date.now())
  }
  const planned = await dueTogether(url, { count, handle, ...rest })
  const end = planned.due + timeoutMs
  await until(() => starts.length >= count || Date.now() > end, { everyMs: 20, timeoutMs: timeoutMs + 200_000 })
  await planned.close()
  const late = starts.map((at) => at - planned.due)
  return {
    started: starts.length,
    first: Math.min(...late),
    p50: quantile(late, 0.5),
    last: Math.max(...late),
    complete: starts.length >= count,
  }
}
