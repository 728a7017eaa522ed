import { describe, expect, it } from 'vitest'
import { type CrontabLine, plainCommand, planCrontab, parseCrontab } from '../../../src/domain/import/crontab.ts'
import { parseCron } from '../../../src/domain/time/cron-grammar.ts'

const read = (line: string, system = false): CrontabLine => {
  const [found] = parseCrontab(line, { system })
  if (found === undefined) throw new Error('no line')
  return found
}

describe('a line that runs something', () => {
  const JOBS: readonly (readonly [line: string, cron: string, command: string, stdin?: string])[] = [
    ['* * * * * true', '* * * * *', 'true'],
    ['*/5 * * * * /usr/local/bin/poll', '*/5 * * * *', '/usr/local/bin/poll'],
    ['0 2 * * * /usr/local/bin/backup --full', '0 2 * * *', '/usr/local/bin/backup --full'],
    ['30 4 1,15 * 5 date', '30 4 1,15 * 5', 'date'],
    ['0 22 * * 1-5 mail -s "Go home" staff', '0 22 * * 1-5', 'mail -s "Go home" staff'],
    ['23 0-23/2 * * * echo 23 minutes after', '23 0-23/2 * * *', 'echo 23 minutes after'],
    ['5 4 * * sun echo sunday', '5 4 * * sun', 'echo sunday'],
    ['0 9 * jan-mar mon,wed x', '0 9 * jan-mar mon,wed', 'x'],
    ['0 0 1 JAN * happy-new-year', '0 0 1 JAN *', 'happy-new-year'],
    ['0 0 * * 7 weekly', '0 0 * * 7', 'weekly'],
    ['0 0 * * 0 weekly', '0 0 * * 0', 'weekly'],
    ['59 23 31 12 * last', '59 23 31 12 *', 'last'],
    ['0-59/10 8-18 * * * x', '0-59/10 8-18 * * *', 'x'],
    ['1,11,21,31,41,51 * * * * x', '1,11,21,31,41,51 * * * *', 'x'],
    ['  15 3 * * *   leading blanks', '15 3 * * *', 'leading blanks'],
    ['15\t3\t*\t*\t*\ttabs between', '15\t3\t*\t*\t*', 'tabs between'],
    ['15 3 * * * trailing blanks   ', '15 3 * * *', 'trailing blanks'],
    ['@hourly x', '@hourly', 'x'],
    ['@daily /bin/backup', '@daily', '/bin/backup'],
    ['@midnight x', '@midnight', 'x'],
    ['@weekly x', '@weekly', 'x'],
    ['@monthly x', '@monthly', 'x'],
    ['@yearly x', '@yearly', 'x'],
    ['@annually x', '@annually', 'x'],
    ['@Daily in any case', '@Daily', 'in any case'],
    ['0 9 * * * echo 5\\% off', '0 9 * * *', 'echo 5% off'],
    ['0 9 * * * date +\\%Y-\\%m-\\%d', '0 9 * * *', 'date +%Y-%m-%d'],
    ['0 9 * * * mail joe%Hello%there', '0 9 * * *', 'mail joe', 'Hello\nthere\n'],
    ['0 9 * * * cat%only one line', '0 9 * * *', 'cat', 'only one line\n'],
    ['0 9 * * * cat%50\\% done', '0 9 * * *', 'cat', '50% done\n'],
    ['0 9 * * * cat%', '0 9 * * *', 'cat', '\n'],
    ['0 9 * * * cd /srv && ./run.sh >/dev/null 2>&1', '0 9 * * *', 'cd /srv && ./run.sh >/dev/null 2>&1'],
    ['0 9 * * * A=1 B="two words" prog # no comment here', '0 9 * * *', 'A=1 B="two words" prog # no comment here'],
    ['0 9 * * * test -x /x && /x || true', '0 9 * * *', 'test -x /x && /x || true'],
    ['0 9 * * * 每天 报告', '0 9 * * *', '每天 报告'],
    ['0 9 * * * x\r', '0 9 * * *', 'x'],
  ]

  it.each(JOBS.map(([line, cron, command, stdin = null]) => ({ line, cron, command, stdin })))('$line', (job) => {
    const { line, cron, command, stdin } = job
    expect(read(line.replace(/\r$/, '\r\n'))).toMatchObject({ kind: 'job', cron, command, stdin })
    expect(parseCron('cron', cron).ok).toBe(true)
  })

  it.each<readonly [line: string, user: string, command: string]>([
    [
      '17 * * * * root cd / && run-parts --report /etc/cron.hourly',
      'root',
      'cd / && run-parts --report /etc/cron.hourly',
    ],
    ['25 6 * * *\troot\ttest -x /usr/sbin/anacron', 'root', 'test -x /usr/sbin/anacron'],
    ['@daily www-data /usr/bin/php /srv/cron.php', 'www-data', '/usr/bin/php /srv/cron.php'],
  ])('of a system: %s', (line, user, command) => {
    expect(read(line, true)).toMatchObject({ kind: 'job', user, command })
  })

  it('may ask cron to be quiet about it', () => {
    expect(read('-*/15 * * * * x')).toMatchObject({ kind: 'job', cron: '*/15 * * * *', column: 2, isQuiet: true })
  })
})

describe('another line', () => {
  it.each<readonly [line: string, found: object]>([
    ['', { kind: 'blank' }],
    ['   \t', { kind: 'blank' }],
    ['# a remark', { kind: 'comment', says: 'a remark' }],
    ['  ## twice', { kind: 'comment', says: 'twice' }],
    ['#0 9 * * * switched off', { kind: 'comment', says: '0 9 * * * switched off' }],
    ['SHELL=/bin/bash', { kind: 'variable', name: 'SHELL', value: '/bin/bash' }],
    ['MAILTO=""', { kind: 'variable', name: 'MAILTO', value: '' }],
    ['MAILTO = ops@example.com ', { kind: 'variable', name: 'MAILTO', value: 'ops@example.com' }],
    ["GREETING='two  words'", { kind: 'variable', name: 'GREETING', value: 'two  words' }],
    ['"QUOTED" = x', { kind: 'variable', name: 'QUOTED', value: 'x' }],
    ['EMPTY=', { kind: 'variable', name: 'EMPTY', value: '' }],
    ['PATH=/usr/bin:/bin:$HOME/bin', { kind: 'variable', name: 'PATH', value: '/usr/bin:/bin:$HOME/bin' }],
    ['CRON_TZ=Europe/Berlin', { kind: 'variable', name: 'CRON_TZ', value: 'Europe/Berlin' }],
    ['hello there', { kind: 'bad', column: 1 }],
    ['  every day', { kind: 'bad', column: 3 }],
    ['* * * * *', { kind: 'bad', column: 10, message: 'has no command after its time fields' }],
    ['* * * *', { kind: 'bad', column: 8 }],
    ['5', { kind: 'bad', column: 2 }],
    ['@daily', { kind: 'bad', column: 7, message: 'has no command after its time fields' }],
    ['@daily   ', { kind: 'bad', column: 7 }],
  ])('%j', (line, found) => {
    expect(read(line)).toMatchObject(found)
  })

  it('of a system without its user or its command is bad', () => {
    expect(read('* * * * *', true)).toMatchObject({ kind: 'bad', message: 'has no user after its time fields' })
    expect(read('* * * * * root', true)).toMatchObject({ kind: 'bad', message: 'has no command after its user' })
  })

  it.each([
    ['61 * * * *', 0],
    ['* 24 * * *', 2],
    ['* * 0 * *', 4],
    ['* * * 13 *', 6],
    ['* * * * 8', 8],
    ['*/0 * * * *', 2],
    ['5-1 * * * *', 0],
    ['a * * * *', 0],
    ['0~30 * * * *', 0],
    ['@every_minute', 0],
  ])('with a time that is none, %s, says where', (cron, position) => {
    const answer = parseCron('cron', cron)
    expect(answer).toMatchObject({ ok: false })
    if (!answer.ok) expect(answer.flaws[0]?.position).toBe(position)
  })
})

describe('a crontab as a whole', () => {
  const FILE = [
    '# My jobs',
    '',
    'SHELL=/bin/bash',
    'MAILTO=ops@example.com',
    'KEY=value',
    '# Backs up everything,',
    '# every night',
    '0 2 * * * backup',
    'CRON_TZ=Europe/Berlin',
    '0 9 * * * report',
    '0 17 * * * report',
    '@reboot start-me',
    'nonsense',
    '# at the end',
  ].join('\n')

  it('keeps remarks with their job, variables with the jobs below them, and says what became of the rest', () => {
    const { jobs, others } = planCrontab(FILE, { system: false, toAgent: false })
    expect(jobs.map(({ line, timezone, description }) => [line, timezone, description])).toEqual([
      [8, null, 'Backs up everything,\nevery night'],
      [10, 'Europe/Berlin', ''],
      [11, 'Europe/Berlin', ''],
    ])
    expect(jobs[0]).toMatchObject({ interpreter: '/bin/bash', env: { PATH: '/usr/bin:/bin', KEY: 'value' } })
    expect(others.map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'left_out'],
      [3, 'taken'],
      [4, 'left_out'],
      [5, 'taken'],
      [6, 'taken'],
      [7, 'taken'],
      [9, 'taken'],
      [12, 'refused'],
      [13, 'refused'],
      [14, 'left_out'],
    ])
    expect(others.find(({ line }) => line === 12)?.notes[0]).toMatch(/@reboot is not supported/)
  })

  it('tells the same command at two times apart, and knows both again', () => {
    const { jobs } = planCrontab(FILE, { system: false, toAgent: false })
    const later = planCrontab(FILE.replace('0 17', '0 18'), { system: false, toAgent: false }).jobs
    expect(new Set(jobs.map(({ identity }) => identity)).size).toBe(3)
    expect(later.map(({ identity }) => identity)).toEqual(jobs.map(({ identity }) => identity))
  })

  it('leaves the environment to an agent that gets the lines', () => {
    const { others } = planCrontab('KEY=value\nSHELL=/bin/bash\nCRON_TZ=UTC\n', { system: false, toAgent: true })
    expect(others.map(({ outcome }) => outcome)).toEqual(['left_out', 'left_out', 'taken'])
  })
})

describe('a command line', () => {
  it.each<readonly [string, readonly string[] | null]>([
    ['/usr/bin/backup --full /srv', ['/usr/bin/backup', '--full', '/srv']],
    ['/bin/echo \'two words\' "and these"', ['/bin/echo', 'two words', 'and these']],
    ['/bin/x a=b,c:d@e', ['/bin/x', 'a=b,c:d@e']],
    ['backup', null],
    ['/bin/x | /bin/y', null],
    ['/bin/x > /tmp/y', null],
    ['/bin/x $HOME', null],
    ['/bin/x "$HOME"', null],
    ['/bin/x *.log', null],
    ['/bin/x ~/y', null],
    ['/bin/x; /bin/y', null],
    ['A=1 /bin/x', null],
    ['/bin/../x', null],
    ["/bin/x 'open", null],
  ])('%s', (command, words) => {
    const found = plainCommand(command)
    expect(found === null ? null : [found.program, ...found.args]).toEqual(words)
  })
})
