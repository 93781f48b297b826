// For the Prisma CLI from version 7 on, which takes the address of the database from here alone: `npx prisma@7 validate`.
// Sentry itself runs without it and applies its migrations at the start.
const url = process.env['DATABASE_URL'];

export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url === undefined ? {} : { datasource: { url } }),
};
