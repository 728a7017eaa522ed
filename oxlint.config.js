import { SYNTACTIC, TYPE_AWARE } from './scripts/lint/strict-rules.mjs'

// The rules of the house, as far as a linter can keep them. A rule that is switched off says why on the same line.

const NO_BARRELS = {
  selector: 'ExportAllDeclaration',
  message: 'No barrels: import from the file that defines it; only src/index.ts re-exports, by name.',
}
const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name: a thing has the same name everywhere.',
}

// oxlint 1.89 has no `no-unsafe-enum-assignment`; without enums of our own there is nothing to assign to.
const NO_ENUM = { selector: 'TSEnumDeclaration', message: 'No enums: use a union of texts, which needs no code.' }
const EVERYWHERE = [NO_BARRELS, NO_DEFAULT_EXPORT, NO_ENUM]

/** About 120,000 arguments overflow the stack, and how long a list is often depends on what was sent. */
const NO_SPREAD_LIST = {
  selector:
    "CallExpression:matches([callee.property.name=/^(push|unshift|splice|concat|fromCharCode|fromCodePoint)$/], [callee.object.name='Math'], [callee.name='flawed']) > SpreadElement",
  message: 'A long list overflows the stack: use addAll, largest or smallest of src/domain/long-lists.ts.',
}

/** A row that is indexed by text has whatever type is claimed of it. */
const NO_ROW_BY_TEXT = {
  selector: 'MemberExpression[computed=true][property.raw=/^[\'"]/]',
  message: 'Declare what the statement reads: table or columns of src/platform/db/table.ts.',
}

/** Decisions, and what they read of executors. */
const PURE = [
  'src/domain/**/*.ts',
  'src/executors/{kind,kinds,parse-executor,success-when,template}.ts',
  'src/executors/*/{kind,options,conversation}.ts',
]

const NO_CLOCK = 'The core has no clock: take `now` as an argument.'
const NO_HOST_ZONE = "This reads the host's time zone; use the UTC functions or src/domain/time/zone.ts."
const NO_ASYNC = 'The core is synchronous: facts in, decision out.'

const CORE_SYNTAX = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: NO_CLOCK },
  { selector: "CallExpression[callee.name='Date']", message: NO_CLOCK },
  { selector: "NewExpression[callee.name='Date'][arguments.length>1]", message: NO_HOST_ZONE },
  {
    selector:
      'MemberExpression[property.name=/^([gs]et(FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)|getTimezoneOffset|toLocale(Date|Time)?String)$/]',
    message: NO_HOST_ZONE,
  },
  { selector: ':function[async=true]', message: NO_ASYNC },
  { selector: 'AwaitExpression', message: NO_ASYNC },
  { selector: 'ForOfStatement[await=true]', message: NO_ASYNC },
  { selector: "NewExpression[callee.name='Promise']", message: NO_ASYNC },
  { selector: "MemberExpression[object.name='Promise']", message: NO_ASYNC },
  { selector: 'ImportExpression', message: 'The core loads nothing at run time.' },
]

const CORE_PROPERTIES = [
  { object: 'Date', property: 'now', message: NO_CLOCK },
  { object: 'Math', property: 'random', message: 'Chance is an argument: take the random number from the caller.' },
]

const CORE_GLOBALS = [
  ...['performance', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ...['queueMicrotask', 'process', 'fetch', 'crypto', 'console', 'globalThis', 'global', 'Buffer', 'WebSocket'],
  ...['MessageChannel', 'BroadcastChannel', 'Worker', 'navigator', 'require'],
].map((name) => ({ name, message: 'The core is pure: no clock, no timer, no I/O, no host.' }))

const INTL = { name: 'Intl', message: 'Only src/domain/time/zone.ts may ask Intl, and it keeps what it learns.' }

/** What people read or hear is in ui/texts, in every language; anything with a letter in it counts. */
const NO_LOOSE_TEXT = [
  'JSXText[value=/\\p{L}/u]',
  'JSXAttribute[name.name=/^(title|alt|placeholder|label|description|aria-label|aria-description)$/] > Literal[value=/\\p{L}/u]',
  'JSXAttribute[name.name=/^(title|alt|placeholder|label|description|aria-label|aria-description)$/] > JSXExpressionContainer > :matches(Literal[value=/\\p{L}/u], TemplateLiteral:has(TemplateElement[value.raw=/\\p{L}/u]))',
  'JSXElement > JSXExpressionContainer > :matches(Literal[value=/\\p{L}/u], TemplateLiteral:has(TemplateElement[value.raw=/\\p{L}/u]))',
].map((selector) => ({ selector, message: 'Texts are in ui/texts, in every language: say(…).' }))

const NO_ENVIRONMENT = {
  object: 'process',
  property: 'env',
  message: 'Only src/platform/config/config.ts reads the environment.',
}

/** The compiler knows the globals of TypeScript files; plain JavaScript has to be told. */
const NODE_GLOBALS = Object.fromEntries(
  [
    ...['process', 'console', 'performance', 'Buffer', 'URL', 'AbortController', 'AbortSignal', 'structuredClone'],
    ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'module', 'globalThis', 'gc'],
  ].map((name) => [name, 'readonly']),
)

export default {
  ignorePatterns: ['node_modules/', 'dist/', 'test/**/fixtures/'],
  plugins: ['eslint', 'typescript', 'react'],
  jsPlugins: ['./scripts/lint/restricted-syntax.mjs'],
  categories: { correctness: 'off' }, // every rule that applies is named in these files
  options: { typeAware: true, reportUnusedDisableDirectives: 'error', maxWarnings: 0 },
  rules: {
    ...TYPE_AWARE,
    ...SYNTACTIC,
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    'typescript/explicit-module-boundary-types': 'error',
    'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    'max-params': ['error', 3],
    'house/no-restricted-syntax': ['error', ...EVERYWHERE],
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'object-shorthand': 'error',
    'no-debugger': 'error',
    'no-self-compare': 'error',
    'no-unreachable': 'error',
    'no-unused-labels': 'error',
    'no-duplicate-case': 'error',
    'no-fallthrough': 'error',
    'no-cond-assign': 'error',
    'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
    'no-empty': 'error',
    'no-control-regex': 'error',
    'no-loss-of-precision': 'error',
    'no-sparse-arrays': 'error',
    'no-unsafe-finally': 'error',
    'no-useless-catch': 'error',
    'no-useless-escape': 'error',
    'no-misleading-character-class': 'error',
    'use-isnan': 'error',
    'valid-typeof': 'error',
    eqeqeq: 'error',
  },
  overrides: [
    {
      files: ['src/**/*.ts'],
      excludeFiles: ['src/platform/config/config.ts'],
      rules: {
        'house/no-restricted-syntax': ['error', ...EVERYWHERE, NO_SPREAD_LIST],
        'no-restricted-properties': ['error', NO_ENVIRONMENT],
        'no-restricted-imports': [
          'error',
          { paths: ['process', 'node:process'].map((name) => ({ name, message: NO_ENVIRONMENT.message })) },
        ],
      },
    },
    {
      files: ['src/platform/db/**/*.ts', 'src/**/store.ts', 'src/**/*-store.ts'],
      rules: { 'house/no-restricted-syntax': ['error', ...EVERYWHERE, NO_SPREAD_LIST, NO_ROW_BY_TEXT] },
    },
    {
      files: PURE,
      rules: {
        'house/no-restricted-syntax': ['error', ...EVERYWHERE, NO_SPREAD_LIST, ...CORE_SYNTAX],
        'no-restricted-properties': ['error', NO_ENVIRONMENT, ...CORE_PROPERTIES],
        'no-restricted-globals': ['error', ...CORE_GLOBALS, INTL],
      },
    },
    {
      files: ['src/domain/time/zone.ts'],
      rules: { 'no-restricted-globals': ['error', ...CORE_GLOBALS] },
    },
    {
      files: ['test/**/*.ts'],
      rules: {
        'max-lines': ['error', { max: 600, skipBlankLines: false, skipComments: false }],
        'max-lines-per-function': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
        'max-params': 'off', // a row of `it.each` arrives as parameters
      },
    },
    {
      files: ['test/simulation/**/*.ts'],
      rules: {
        'no-console': 'off', // it prints the totals of a run, and a failing seed
      },
    },
    {
      files: ['ui/**/*.{ts,tsx}'],
      rules: {
        'house/no-restricted-syntax': ['error', ...EVERYWHERE, ...NO_LOOSE_TEXT],
        'react-hooks/rules-of-hooks': 'error',
        'react-hooks/exhaustive-deps': 'error',
        // Comparing with null asks for undefined too, which is what the DOM and the router mean.
        eqeqeq: ['error', 'always', { null: 'ignore' }],
        // Routers stop by throwing a redirect.
        'typescript/only-throw-error': 'off',
        // The types of queries and of routes are inferred, and too long to be written by anybody.
        'typescript/explicit-module-boundary-types': 'off',
      },
    },
    {
      files: ['**/*.config.{js,ts}', 'scripts/lint/restricted-syntax.mjs'],
      rules: {
        'house/no-restricted-syntax': ['error', NO_BARRELS, NO_ENUM], // their tools demand a default export
      },
    },
    {
      files: ['**/*.{js,mjs,cjs}'],
      rules: Object.fromEntries(Object.keys(TYPE_AWARE).map((name) => [name, 'off'])), // there are no types to check in it
    },
    {
      files: ['**/*.cjs'],
      globals: { require: 'readonly', exports: 'readonly' },
      rules: { 'typescript/no-require-imports': 'off' }, // dependency-cruiser reads its configuration as CommonJS
    },
    {
      files: ['ui/public/*.js'],
      rules: { 'no-var': 'off' }, // it is not compiled, and runs before anything is known of the browser
    },
    {
      files: ['scripts/**/*.mjs', 'bench/**/*.mjs', 'examples/**/*.mjs', 'oxlint.config.js', '.dependency-cruiser.cjs'],
      globals: NODE_GLOBALS,
      rules: {
        'no-undef': 'error',
        'typescript/explicit-module-boundary-types': 'off', // plain JavaScript has no place for them
        'no-console': 'off', // printing is what they are for
      },
    },
  ],
}
