/** An object without its undefined fields. */

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Defined<Fields>;
}
