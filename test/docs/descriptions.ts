import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'

/** A text that describes something, as it is written in the sources. */
export interface Description {
  readonly text: string
  /** File and line. */
  readonly place: string
  /** The field of the API that an option of the command line gives; null elsewhere. */
  readonly field: string | null
}

/** Properties whose texts describe: of operations, of options, of tools. */
const DESCRIBING: ReadonlySet<string> = new Set(['about', 'description', 'summary', 'help'])
/** Functions, and which of their arguments describes. */
const CALLS: Readonly<Record<string, number>> = { describe: 0, description: 0, named: 2, option: 1, Option: 1 }

/** A text that is written down, perhaps in several pieces; null: it is made of something else, too. */
function textOf(node: ts.Node | undefined): string | null {
  if (node === undefined) return null
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression)
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === null || right === null ? null : left + right
}

const nameOf = (node: ts.Node): string | null =>
  ts.isIdentifier(node) || ts.isStringLiteralLike(node)
    ? node.text
    : ts.isPropertyAccessExpression(node)
      ? node.name.text
      : null

/** The text of a node, if it describes. */
function describedBy(node: ts.Node): string | null {
  if (ts.isPropertyAssignment(node)) return DESCRIBING.has(nameOf(node.name) ?? '') ? textOf(node.initializer) : null
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return null
  const name = nameOf(node.expression) ?? ''
  const at = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined
  return at === undefined ? null : textOf(node.arguments?.[at])
}

/** The field that an option is for: it is named beside the text, or the option is listed under its name. */
function fieldOf(node: ts.Node): string | null {
  const object = node.parent
  if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(object)) return null
  const beside = object.properties.flatMap((one) =>
    ts.isSpreadAssignment(one) && ts.isObjectLiteralExpression(one.expression) ? one.expression.properties : [one],
  )
  const named = beside.find((one) => ts.isPropertyAssignment(one) && nameOf(one.name) === 'field')
  if (named !== undefined && ts.isPropertyAssignment(named)) return textOf(named.initializer)
  const listed = ts.isArrayLiteralExpression(object.parent) ? object.parent.parent : object.parent
  return ts.isPropertyAssignment(listed) ? nameOf(listed.name) : null
}

/** Every description that is written in a file. */
export function descriptionsIn(file: string): readonly Description[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Description[] = []
  const visit = (node: ts.Node): void => {
    const text = describedBy(node)
    if (text !== null) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      found.push({ text, place: `${path.relative(process.cwd(), file)}:${line + 1}`, field: fieldOf(node) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Descriptions that are the same but for their first letter and the full stop. */
export function repeatedIn(descriptions: readonly Description[], shortest: number): readonly string[] {
  const places = new Map<string, string[]>()
  for (const { text, place } of descriptions) {
    const plain = text.trim().replace(/\.$/, '').toLowerCase()
    if (plain.length >= shortest) places.set(plain, [...(places.get(plain) ?? []), place])
  }
  return [...places].filter(([, all]) => all.length > 1).map(([text, all]) => `"${text}": ${all.join(', ')}`)
}
