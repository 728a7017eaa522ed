/**
 * Runs steps in their order and answers with their results in the same order. One that has a budget `beside` others waits
 * for nothing but its turn to compute: it starts when it is due, behind them, and the next ones do not wait for it.
 * Of several such steps one runs at a time: what waits for real clocks is held up by one of them at most.
 * What it prints is kept until nobody else is printing. Alone, or when `apart` is asked for, it is a step like any other.
 *
 * `run(step, isBeside)` runs one and answers `{ output, interrupted, … }`.
 */
export async function runSteps(steps, { run, print, apart = false }) {
  const isBeside = (step) => step.beside !== undefined && !apart && steps.some((other) => other.beside === undefined)
  const results = new Map()
  const running = new Map()
  const done = []
  let isInterrupted = false
  let before
  const runBeside = async (step) => {
    if (isInterrupted) return
    const result = await run(step, true)
    isInterrupted ||= result.interrupted
    done.push({ step, result })
  }
  const start = (step) => {
    const ended = before?.then(() => runBeside(step)) ?? runBeside(step)
    // Whoever starts it asks what became of it at the end.
    before = ended.catch(() => {})
    running.set(step, ended)
  }
  const printDone = () => {
    for (const { step, result } of done.splice(0)) {
      print(`${headOf(step)} (beside other steps)\n${result.output}`)
      results.set(step, { ...result, budget: step.beside })
    }
  }
  try {
    for (const step of steps) {
      if (isBeside(step)) {
        start(step)
        continue
      }
      print(`${headOf(step)}\n`)
      const result = await run(step, false)
      results.set(step, { ...result, budget: step.budget })
      printDone()
      isInterrupted ||= result.interrupted
      if (isInterrupted) break
    }
  } finally {
    // Also when something has gone wrong: nothing that was started here may live on.
    await Promise.allSettled(running.values())
  }
  await Promise.all(running.values())
  printDone()
  return steps.filter((step) => results.has(step)).map((step) => ({ step, ...results.get(step) }))
}

const headOf = ({ name, folders }) => `\n== ${name}: ${folders.join(' ')}`
