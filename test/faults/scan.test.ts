import { it } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { runSeed, noTotals, printTotals } from './run-seeds.ts'
import { serverFaultOf } from './faults.ts'
it('scan', async () => {
  const [a, b] = (process.env['SCAN'] ?? '0-15').split('-').map(Number)
  const only = process.env['ONLY']
  const totals = noTotals()
  const seeds: number[] = []
  for (let s = a ?? 0; s <= (b ?? 15); s += 1)
    if (only === undefined || String(serverFaultOf(s)) === only) seeds.push(s)
  const stream = async () => {
    const test = await createTestDatabase('migrated')
    const database = await test.open({ pool: 2, pinPlans: true })
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const began = Date.now()
      let line = 'ok'
      try {
        const broken = await runSeed({ seed, database, isHarsh: process.env['HARSH'] === '1' }, totals)
        if (broken !== null) line = broken.message.slice(0, 300)
      } catch (error) {
        line = `THROWN ${error instanceof Error ? error.message : String(error)}`
      }
      process.stdout.write(`seed ${seed} ${String(serverFaultOf(seed))} ${Date.now() - began} ms: ${line}\n`)
    }
    await test.drop()
  }
  await Promise.all([stream(), stream(), stream()])
  process.stdout.write(`${printTotals(totals)}\n`)
}, 3_000_000)
