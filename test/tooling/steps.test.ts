import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LONG_FILES } from '../support/longest-first.ts'
import { MOCKING_FOLDERS } from '../support/projects.ts'
import { ROOT } from './root.ts'

interface Step {
  readonly name: string
  readonly folders: readonly string[]
}

const { STEPS } = (await import(pathToFileURL(path.join(ROOT, 'scripts/test/steps.mjs')).href)) as {
  readonly STEPS: readonly Step[]
}

const testFiles = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file.split(path.sep).join('/')}`)
  .filter((file) => file.endsWith('.test.ts') && !file.includes('/fixtures/'))

describe('npm test', () => {
  it('runs every test file in exactly one of its steps', () => {
    const wrong = testFiles
      .map(
        (file) =>
          [file, STEPS.filter((step) => step.folders.some((folder) => file.startsWith(folder))).length] as const,
      )
      .filter(([, steps]) => steps !== 1)
    expect(wrong).toEqual([])
    expect(testFiles.length).toBeGreaterThan(50)
  })

  it('has no step without a test', () => {
    const empty = STEPS.filter(
      (step) => !testFiles.some((file) => step.folders.some((folder) => file.startsWith(folder))),
    )
    expect(empty.map((step) => step.name)).toEqual([])
  })

  it('gives a worker of its own to every file that mocks modules', () => {
    const mocking = testFiles.filter((file) => /\bvi\.(m|doM)ock\(/.test(readFileSync(path.join(ROOT, file), 'utf8')))
    expect(mocking.filter((file) => !MOCKING_FOLDERS.some((folder) => file.startsWith(folder)))).toEqual([])
    expect(mocking).not.toEqual([])
  })

  it('begins with files that exist', () => {
    expect(Object.keys(LONG_FILES).filter((file) => !testFiles.includes(file))).toEqual([])
  })
})
