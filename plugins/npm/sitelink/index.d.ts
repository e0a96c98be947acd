export interface Options {
  /** Lowest level that fails the build; the default is that of sitelink.toml, else "error". */
  failOn?: "error" | "warning" | "never";
  /** Rules as for --ignore, such as "/search/**". */
  ignore?: string | string[];
  /** File of accepted findings. */
  baseline?: string;
  /** Address at which the site is published. */
  baseUrl?: string;
  /** Further arguments of sitelink check. */
  args?: string[];
}
export interface Result {
  ok: boolean;
  report: string;
}
export function binary(): string;
export function check(docroot: string, options?: Options & { seen?: Set<string> }): Promise<Result>;
export function flags(options?: Options): string[];
export function failure(): Error;
