import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

const { compileProgram } = (await import(pathToFileURL(path.join(ROOT, 'scripts/chaos/compile.mjs')).href)) as {
  readonly compileProgram: (how: { readonly entries: readonly string[]; readonly into: string }) => void
}

it('a server is compiled with its threads: without them it would compute everything on its main thread', () => {
  const into = mkdtempSync(path.join(os.tmpdir(), 'escapement-compiled-'))
  try {
    compileProgram({ entries: ['src/cli/main.ts'], into })
    const threads = ['engine/threads/computation-thread', 'engine/threads/simulation-thread', 'serve/watchdog-thread']
    expect(threads.filter((thread) => !existsSync(path.join(into, 'src', `${thread}.js`)))).toEqual([])
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
})
