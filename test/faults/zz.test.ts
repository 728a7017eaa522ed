import { it } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { noTotals, printTotals, runSeed } from './run-seeds.ts'
it('x', async () => {
  const from = Number(process.env['FROM'] ?? 0), n = Number(process.env['N'] ?? 6)
  const test = await createTestDatabase('migrated')
  const database = await test.open({ pool: 3, pinPlans: true })
  const totals = noTotals()
  let bad = 0
  for (let s = from; s < from + n && bad < 3; s++) {
    const lines: string[] = []
    try {
    const broken = await runSeed({ seed: s, database, tell: (line) => lines.push(line) }, totals)
    const rows = await database.query("select count(*) as t, count(*) filter (where events::text like '%backlog.touched%') as b from turn")
    console.log(s, broken === null ? 'ok' : broken.message, JSON.stringify(rows))
    console.log(JSON.stringify(await database.query("select e->>0 as k, count(*)::int as n from turn, json_array_elements(events) e group by 1 order by 2 desc")))
    console.log(JSON.stringify(await database.query("select * from node limit 2")))
    if (broken !== null) { bad++; console.log(lines.filter((l) => /says|rror/.test(l)).slice(-12).join('\n')) }
    } catch (e) { bad++; console.log(s, String((e as Error).stack).slice(0, 1500), lines.filter((l) => /says|rror/.test(l)).slice(-12).join('\n')) }
  }
  console.log(printTotals(totals))
  await test.drop()
}, 600000)
