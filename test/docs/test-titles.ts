import ts from 'typescript'

/** What declares a test or a group of them: those of the test runner, and scenarios. */
const DECLARES = /^(?:describe|it|test|\w*[sS]cenario)$/

/** `it` of `it.each([…])('…', …)` and of `it.concurrent('…', …)`. */
function rootOf(callee: ts.Expression): string {
  if (ts.isIdentifier(callee)) return callee.text
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return rootOf(callee.expression)
  return ''
}

function titleOf(node: ts.Node, source: ts.SourceFile): string | null {
  if (!ts.isCallExpression(node) || !DECLARES.test(rootOf(node.expression))) return null
  const [title] = node.arguments
  if (title === undefined) return null
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : null
}

/** The titles of a test file as they are written, each behind those of the groups around it: `a key › is refused`. */
export function titlesIn(text: string): readonly string[] {
  const source = ts.createSourceFile('x.test.ts', text, ts.ScriptTarget.Latest)
  const titles: string[] = []
  const walk = (node: ts.Node, around: readonly string[]): void => {
    const title = titleOf(node, source)
    const inside = title === null ? around : [...around, title]
    if (title !== null) titles.push(inside.join(' › '))
    ts.forEachChild(node, (child) => walk(child, inside))
  }
  walk(source, [])
  return titles
}
