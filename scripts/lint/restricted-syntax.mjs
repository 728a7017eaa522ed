// The one rule that oxlint lacks: forbids syntax by selector, with the reason as message.

const rule = {
  meta: { type: 'problem', schema: { type: 'array', items: { type: 'object' } } },
  create: (context) =>
    Object.fromEntries(
      context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })]),
    ),
}

const plugin = { meta: { name: 'house' }, rules: { 'no-restricted-syntax': rule } }

export default plugin
