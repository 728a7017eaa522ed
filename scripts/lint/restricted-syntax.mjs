// The one rule that oxlint does not have: syntax that is refused by a selector, with the reason as its message.

const rule = {
  meta: { type: 'problem', schema: { type: 'array', items: { type: 'object' } } },
  create: (context) =>
    Object.fromEntries(
      context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })]),
    ),
}

const plugin = { meta: { name: 'house' }, rules: { 'no-restricted-syntax': rule } }

export default plugin
