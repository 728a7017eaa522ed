import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as library from '../../src/index.ts'
import { textOf } from '../docs/tracked-files.ts'
import { ROOT } from '../tooling/root.ts'

// What a stranger gets who installs the package and imports it by its name.

interface Manifest {
  readonly name: string
  readonly main: string
  readonly types: string
  readonly files: readonly string[]
  readonly exports: Readonly<Record<string, unknown>>
}

const manifest = JSON.parse(textOf('package.json')) as Manifest
const guide = textOf('docs/guides/embed.md')

/** Every name that `src/index.ts` exports, types too. */
function exportedNames(): readonly string[] {
  const source = ts.createSourceFile('index.ts', textOf('src/index.ts'), ts.ScriptTarget.ES2023)
  return source.statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [],
  )
}

describe('the package', () => {
  it('has one entry for the library, one for the client and one for workers, with types', () => {
    const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
    const client = { types: './dist/client/index.d.ts', default: './dist/client/index.js' }
    const worker = { types: './dist/client/worker/index.d.ts', default: './dist/client/worker/index.js' }
    const own = { './package.json': './package.json' }
    expect(manifest.exports).toEqual({ '.': entry, './client': client, './worker': worker, ...own })
    expect(manifest).toMatchObject({ main: entry.default, types: entry.types })
  })

  it('ships what it needs to run, and no examples', () => {
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'migrations']))
    expect(manifest.files.filter((file) => /example|test|bench|scripts/.test(file))).toEqual([])
  })

  it.runIf(existsSync(path.join(ROOT, 'dist/index.js')))('is found by its own name after a build', () => {
    expect(import.meta.resolve(manifest.name)).toBe(new URL('../../dist/index.js', import.meta.url).href)
    expect(readFileSync(path.join(ROOT, manifest.main), 'utf8')).toContain('createEscapement')
  })
})

describe('docs/guides/embed.md', () => {
  const section = guide.slice(guide.indexOf('## What the package exports'))
  const listed = [...section.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )

  it('lists every exported name once, and no other', () => {
    expect(listed.toSorted()).toEqual(exportedNames().toSorted())
  })

  it('imports only what is exported', () => {
    const imported = [...guide.matchAll(/import \{ ([^}]*) \} from 'escapement'/g)].flatMap(([, names = '']) =>
      names.split(', '),
    )
    expect(imported).toContain('createEscapement')
    expect(imported.filter((name) => !(name in library))).toEqual([])
  })

  it('names every error that is exported', () => {
    const errors = Object.keys(library).filter((name) => name.startsWith('Err'))
    expect(errors.filter((name) => !guide.includes(`| \`${name}\``))).toEqual([])
  })
})
