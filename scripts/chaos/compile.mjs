// Compiles TypeScript programs and the sources they use into a separate directory, so that their processes run exactly these
// sources, even if the checkout changes meanwhile.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The checkout. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/**
 * Compiles files and everything they import into a directory. `from` returns the checkout of a file, for programs that
 * combine two: `src` of an earlier release and the current tests.
 */
export function compileProgram({ entries, into, from = () => ROOT, modules = path.join(ROOT, 'node_modules') }) {
  const source = (file) =>
    INSTEAD.find(([of, needed]) => of === file && !existsSync(path.join(from(needed), needed)))?.[2] ?? file
  const text = (file) => readFileSync(path.join(from(file), source(file)), 'utf8')
  // The tests are current, so modules that have moved since are imported from their earlier path.
  const read = (file) => (from(file) === from('src') ? text(file) : MOVED.reduce(movedBack(from), text(file)))
  for (const file of withImports(entries, read)) compile(file, read(file), into)
  writeFileSync(path.join(into, 'package.json'), read('package.json'))
  cpSync(path.join(from('migrations'), 'migrations'), path.join(into, 'migrations'), { recursive: true })
  symlinkSync(modules, path.join(into, 'node_modules'))
  const older = 'test/support/postgres-15'
  if (existsSync(path.join(into, 'test/support'))) symlinkSync(path.join(ROOT, older), path.join(into, older))
}

/** A current test, the module it needs, and its replacement for releases without that module. */
const INSTEAD = [['test/chaos/many-orgs.ts', 'src/library/surface.ts', 'test/chaos/upgrade/many-orgs-0.1.0.ts.txt']]

/** Modules that test nodes import and that had another path in an earlier release: current path, earlier path. */
const MOVED = [['src/executors/in-process/execute.ts', 'src/executors/in-process.ts']]

const movedBack =
  (from) =>
  (text, [now, then]) =>
    existsSync(path.join(from(now), now)) ? text : text.replaceAll(`/${now}'`, `/${then}'`)

/** Static and dynamic imports of a file, and thread modules, which 0.1.0 named by a relative URL. */
const IMPORTED =
  /(?:from |import |import\(\s*)'(\.[^']*\.ts)'|new URL\('(\.[^']*-thread)\.js'|threadModule\('([^']+-thread)'/g

function withImports(entries, read) {
  const found = new Set(entries)
  // Iterating over a set includes elements added meanwhile.
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
