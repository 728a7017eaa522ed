// Programs in TypeScript, compiled with the sources they use into a directory of their own, so that the processes they
// start run exactly these sources whatever becomes of the checkout meanwhile.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The checkout. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/**
 * Compiles files and all they import into a directory that can be run from. `from` says in which checkout a file is
 * found, for programs that are made of two: `src` of another time, and today's tests.
 */
export function compileProgram({ entries, into, from = () => ROOT, modules = path.join(ROOT, 'node_modules') }) {
  const source = (file) =>
    INSTEAD.find(([of, needed]) => of === file && !existsSync(path.join(from(needed), needed)))?.[2] ?? file
  const text = (file) => readFileSync(path.join(from(file), source(file)), 'utf8')
  // The tests are of today: what has been moved since is imported from where it stood.
  const read = (file) => (from(file) === from('src') ? text(file) : MOVED.reduce(movedBack(from), text(file)))
  for (const file of withImports(entries, read)) compile(file, read(file), into)
  writeFileSync(path.join(into, 'package.json'), read('package.json'))
  cpSync(path.join(from('migrations'), 'migrations'), path.join(into, 'migrations'), { recursive: true })
  symlinkSync(modules, path.join(into, 'node_modules'))
  const older = 'test/support/postgres-15'
  if (existsSync(path.join(into, 'test/support'))) symlinkSync(path.join(ROOT, older), path.join(into, older))
}

/** A test of today, the module it needs, and what takes its place with a release that has no such module. */
const INSTEAD = [['test/chaos/many-orgs.ts', 'src/library/surface.ts', 'test/chaos/upgrade/many-orgs-0.1.0.ts.txt']]

/** Modules that the nodes of the tests import and that stood elsewhere in an earlier release: where they are, where they were. */
const MOVED = [['src/executors/in-process/execute.ts', 'src/executors/in-process.ts']]

const movedBack =
  (from) =>
  (text, [now, then]) =>
    existsSync(path.join(from(now), now)) ? text : text.replaceAll(`/${now}'`, `/${then}'`)

/** What a file imports, now or later, and the modules of threads, which 0.1.0 named by their place beside the file. */
const IMPORTED =
  /(?:from |import |import\(\s*)'(\.[^']*\.ts)'|new URL\('(\.[^']*-thread)\.js'|threadModule\('([^']+-thread)'/g

function withImports(entries, read) {
  const found = new Set(entries)
  // A set that grows while it is walked is walked to its end.
  for (const file of found)
    for (const [, imported, beside, thread] of read(file).matchAll(IMPORTED))
      found.add(
        thread === undefined
          ? path.posix.join(path.posix.dirname(file), imported ?? `${beside}.ts`)
          : `src/${thread}.ts`,
      )
  return found
}

function compile(file, text, into) {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
      inlineSourceMap: true,
      sourceRoot: ROOT,
    },
    fileName: file,
  })
  const to = path.join(into, file.replace(/\.ts$/, '.js'))
  mkdirSync(path.dirname(to), { recursive: true })
  writeFileSync(to, outputText)
}
