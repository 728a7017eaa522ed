/** Sentences that are understood, of every kind; each is in the guide and in a test. */
export const EXAMPLES: readonly string[] = [
  'every weekday at 9 in Berlin',
  'every day at 9:30',
  'every Monday and Thursday at 5pm',
  'every 15 minutes',
  'every 30 minutes between 9 and 17 on weekdays',
  'every 2 hours on weekends',
  'every 2nd Tuesday of the month at 10am',
  'on the last day of the month at 18:00',
  'on the 1st and 15th of the month at 9am',
  'every other week on Friday at 16:00',
  'every year on 25 December at noon',
  'in 20 minutes',
  'tomorrow at 5pm',
  'next Friday at 9am',
  'every day at 8am except on weekends',
  'every day at 9am starting 1 December until 31 January',
  '每个工作日上午9点（柏林时间）',
  '每天晚上八点半',
  '每周一、三、五上午9点',
  '每15分钟',
  '工作日9点到17点之间每30分钟',
  '每月第二个星期二上午10点',
  '每月最后一天18点',
  '隔周周五下午4点',
  '20分钟后',
  '明天下午5点',
  '每天早上8点，除了周末',
]

const lettersOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [])

/** The example that shares the most words with a text; of equals the first. */
export function nearestExample(text: string): string {
  const given = lettersOf(text)
  const isChinese = /\p{Script=Han}/u.test(text)
  let [best, most] = ['', -1]
  for (const example of EXAMPLES) {
    if (/\p{Script=Han}/u.test(example) !== isChinese) continue
    const shared = [...lettersOf(example)].filter((word) => given.has(word)).length
    if (shared > most) [best, most] = [example, shared]
  }
  return best
}
