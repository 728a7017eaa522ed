import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { run } from './run.ts'

const script = async (shell: string): Promise<string> => (await run(['completion', shell])).stdout

/** What bash offers behind these words; the last one is being typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const typed = ['escapement', ...words].map((word) => `'${word}'`).join(' ')
  const program = `${await script('bash')}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _escapement; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', program], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return stdout.split('\n').filter((line) => line !== '')
}

describe('completion in bash', () => {
  it('offers commands, then theirs, then options', async () => {
    expect(await offered('sch')).toEqual(['schedules'])
    expect(await offered('schedules', 'e')).toEqual(['enable', 'explain'])
    expect(await offered('schedules', 'create', '--ev')).toEqual(['--every'])
  })

  it('passes over arguments and options on the way', async () => {
    expect(await offered('runs', 'list', '--agent', 'schedules', '--sta')).toEqual(['--status'])
    expect(await offered('runs', 'watch', 'run_1', '--co')).toEqual(['--count'])
  })
})

describe('completion elsewhere', () => {
  it('is the same in zsh', async () => {
    expect(await script('zsh')).toMatch(/^#compdef escapement\n[^]*_escapement\(\)/)
  })

  it('has a line for every command and option in fish', async () => {
    const lines = (await script('fish')).split('\n')
    expect(lines).toContainEqual(
      expect.stringMatching(/^complete -c escapement -n '.*seen_subcommand_from runs; and .*' -f -a watch -d '/),
    )
    expect(lines).toContainEqual(
      expect.stringMatching(/from schedules; and __fish_seen_subcommand_from create' -l every -d 'interval/),
    )
    expect(
      lines.filter(
        (line) => line !== '' && !/^(#|complete -c escapement -n '.*' (-l [\w-]+|-f -a [\w-]+) -d '.*'$)/.test(line),
      ),
    ).toEqual([])
  })
})
