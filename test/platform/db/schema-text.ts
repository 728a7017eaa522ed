import type { TestDatabase } from '../../support/database.ts'

/**
 * The whole schema as text, from the catalogues: what all migrations together amount to. The same text on every
 * supported version of PostgreSQL, which is why it is not the output of pg_dump.
 */
export async function describeSchema(world: TestDatabase, schema: string): Promise<string> {
  const sections: string[] = []
  for (const statement of SECTIONS) {
    const rows = await world.outside(`select line from (${statement}) as text(line, place) order by place, line`, [
      schema,
    ])
    const lines = rows.map(({ line }) => (line as string).replaceAll(`${schema}.`, ''))
    if (lines.length > 0) sections.push(lines.join('\n'))
  }
  return `${sections.join('\n\n')}\n`
}

const OF_SCHEMA = 'join pg_namespace n on n.nspname = $1 and n.oid ='

const SECTIONS = [
  `select format('create type %s as enum (%s);', t.typname, string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)), t.typname
     from pg_type t ${OF_SCHEMA} t.typnamespace join pg_enum e on e.enumtypid = t.oid group by t.typname`,
  `select format('create sequence %s as %s increment %s start %s;', s.sequencename, s.data_type, s.increment_by, s.start_value), s.sequencename::text
     from pg_sequences s where s.schemaname = $1`,
  `select format(E'create %s %s (\\n%s\\n)%s%s;',
       case when c.relpersistence = 'u' then 'unlogged table' else 'table' end, c.relname,
       string_agg(format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
         case when co.collname is null or co.collname = 'default' then '' else ' collate ' || co.collname end,
         case when a.attnotnull then ' not null' else '' end,
         case when a.attidentity <> '' then ' generated as identity'
              when a.attgenerated <> '' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
              when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end),
         E',\\n' order by a.attnum),
       case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end,
       case when c.reloptions is null then '' else format(' with (%s)', array_to_string(c.reloptions, ', ')) end), c.relname
     from pg_class c ${OF_SCHEMA} c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     left join pg_collation co on co.oid = a.attcollation
    where c.relkind in ('r', 'p') group by c.oid, c.relname, c.relpersistence, c.relkind, c.reloptions`,
  // Version 18 also lists NOT NULL here, which the tables above show already.
  `select format('alter table %s add constraint %s %s;', c.relname, x.conname, pg_get_constraintdef(x.oid)), c.relname || x.conname
     from pg_constraint x join pg_class c on c.oid = x.conrelid ${OF_SCHEMA} c.relnamespace where x.contype <> 'n'`,
  `select i.indexdef || ';', i.tablename || i.indexname from pg_indexes i where i.schemaname = $1
     and not exists (select from pg_constraint x where x.conname = i.indexname and x.contype in ('p', 'u', 'x'))`,
  // Versions print the text of a view differently; its columns are what others depend on.
  `select format('-- view %s (%s)', c.relname, string_agg(format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)), c.relname
     from pg_class c ${OF_SCHEMA} c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relkind in ('v', 'm') group by c.relname`,
  `select pg_get_functiondef(p.oid) || ';', p.proname from pg_proc p ${OF_SCHEMA} p.pronamespace where p.prokind in ('f', 'p')`,
  `select pg_get_triggerdef(t.oid) || ';', c.relname || t.tgname
     from pg_trigger t join pg_class c on c.oid = t.tgrelid ${OF_SCHEMA} c.relnamespace where not t.tgisinternal`,
]
