import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { OLD_NAMES, OLD_PREFIX, OLD_WORDS, PRONOUNS_ALLOWED, WIRE_NAMES } from './old-names.ts'
import { ROOT } from './root.ts'

const tracked = (...folders: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '')

const SOURCES = tracked('src').filter((file) => file.endsWith('.ts'))

/** Names that a file declares: those of its own scope, of members and of parameters. */
function namesIn(file: string): { readonly top: readonly string[]; readonly all: readonly string[] } {
  const source = ts.createSourceFile(
    file,
    readFileSync(path.join(ROOT, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  )
  const [top, all] = [new Set<string>(), new Set<string>()]
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return
    const name = (node as { readonly name?: ts.Node }).name
    if (name !== undefined && ts.isIdentifier(name) && isDeclaration(node)) {
      all.add(name.text)
      if (isTop(node, source)) top.add(name.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { top: [...top], all: [...all] }
}

const isDeclaration = (node: ts.Node): boolean =>
  ts.isFunctionDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isParameter(node) ||
  ts.isPropertySignature(node) ||
  ts.isMethodSignature(node)

const isTop = (node: ts.Node, source: ts.SourceFile): boolean =>
  node.parent === source || (ts.isVariableDeclaration(node) && node.parent.parent.parent === source)

const DECLARED = SOURCES.map((file) => ({ file, ...namesIn(file) }))

/** The words of a name: `takeTurn` has `take` and `turn`. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[ _-]+/)
    .map((word) => word.toLowerCase())

const isOld = (name: string): boolean => OLD_PREFIX.test(name) || wordsOf(name).some((word) => OLD_WORDS.has(word))

describe('names', () => {
  it('of the old language are declared nowhere', () => {
    const old = DECLARED.flatMap(({ file, all }) =>
      all.filter((name) => OLD_NAMES.has(name)).map((name) => `${file} ${name}`),
    )
    expect(old).toEqual([])
  })

  it('have no word of the old language', () => {
    const old = DECLARED.flatMap(({ file, top }) =>
      top.filter((name) => isOld(name) && !WIRE_NAMES.has(name)).map((name) => `${file} ${name}`),
    )
    expect(old).toEqual([])
  })

  it('of files have no word of the old language', () => {
    const old = [...SOURCES, ...tracked('ui')].filter((file) =>
      wordsOf(path.basename(file).replace(/\..*$/, '')).some((word) => OLD_WORDS.has(word)),
    )
    expect(old).toEqual([])
  })

  it('of the glossary stand for one thing', () => {
    const terms = [...textOf('docs/glossary.md').matchAll(/^\| \*\*[^|]+\| +`(\w+)` +\|/gm)].map(
      ([, name = '']) => name,
    )
    expect(terms.length).toBeGreaterThan(6)
    const declared = terms.map((name) => [name, DECLARED.filter(({ top }) => top.includes(name)).length])
    const isRoom = ([name]: readonly (string | number)[]): boolean => name === 'ROOMS'
    expect(declared.filter((one) => one[1] !== 1 && !isRoom(one))).toEqual([])
  })
})

describe('sentences', () => {
  it('have a noun where `whoever`, `somebody` or `nobody` would stand', () => {
    const files = tracked('src', 'ui/texts', 'docs', 'README.md').filter((file) => /\.(ts|tsx|md)$/.test(file))
    const found = files.flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        .filter((line) => /whoever|somebody|nobody/i.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
    const unexplained = found.filter((line) => !PRONOUNS_ALLOWED.some(({ text }) => line.includes(text)))
    expect(unexplained).toEqual([])
    expect(PRONOUNS_ALLOWED.length).toBeLessThanOrEqual(20)
    expect(PRONOUNS_ALLOWED.filter(({ text }) => !found.some((line) => line.includes(text)))).toEqual([])
  })
})

describe('rooms', () => {
  it('have at most 700 files, and no folder has more than 25', () => {
    const perFolder = new Map<string, number>()
    for (const file of [...SOURCES, ...tracked('ui')])
      perFolder.set(path.dirname(file), (perFolder.get(path.dirname(file)) ?? 0) + 1)
    expect(SOURCES.length).toBeLessThanOrEqual(700)
    expect([...perFolder].filter(([, count]) => count > 25)).toEqual([])
  })
})
