/** The path of an endpoint of charts; `:token` is a chart token. */
export const chartPath = (name: string): string => `/udf/:token/${name}`

const shape = /^\/udf\/([^/]+)\/([^/]+)$/

/** The token in a path; `undefined` for paths without one. */
export const tokenOfPath = (path: string): string | undefined => shape.exec(path)?.[1]

/** The path of a route, with `:token` in place of a token. */
export const withoutToken = (path: string): string =>
  path.replace(shape, (_, _token, name: string) => chartPath(name))
