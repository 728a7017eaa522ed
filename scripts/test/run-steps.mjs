/** More than two at a time would only compete for the two cores. */
const AT_A_TIME = 2

/**
 * Runs steps, two at a time, and returns their results in the order of `steps`. As long as there are both kinds, one of the
 * two computes and the other waits for real clocks. With `apart`, they run one after the other. After an interruption or an
 * error, no further step begins, and running steps are awaited.
 *
 * `run(step, isBeside)` runs a step, at low priority if it computes next to others that don't; it returns
 * `{ interrupted, … }`.
 */
export async function runSteps(steps, { run, apart = false }) {
  const limit = apart ? 1 : AT_A_TIME
  const isBeside = ({ computes = false }) => !apart && computes && steps.some((other) => !other.computes)
  const left = [...steps]
  const running = new Map()
  const results = new Map()
  const errors = []
  const begin = (step) => {
    left.splice(left.indexOf(step), 1)
    const ending = run(step, isBeside(step))
      .then(
        (result) => {
          results.set(step, result)
          if (result.interrupted) left.length = 0
        },
        (error) => {
          errors.push(error)
          left.length = 0
        },
      )
      .finally(() => running.delete(step))
    running.set(step, ending)
  }
  while (left.length + running.size > 0) {
    while (left.length > 0 && running.size < limit) begin(apart ? left[0] : nextOf(left, [...running.keys()]))
    await Promise.race(running.values())
  }
  if (errors.length > 0) throw errors[0]
  return steps.filter((step) => results.has(step)).map((step) => ({ step, ...results.get(step) }))
}

/** The first step of the kind that is not running yet, otherwise the first. */
function nextOf(left, running) {
  const wanted = running.length > 0 && running.every(({ computes }) => !computes)
  return left.find(({ computes = false }) => computes === wanted) ?? left[0]
}
