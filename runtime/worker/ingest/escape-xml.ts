/** Escapes text for XML that we write: as numbers, so that no entity needs a name. */

/** For use between tags. */
export function escapeXmlText(text: string): string {
  return text.replaceAll(/[&<>\r]/g, asNumber);
}

/** For use in double quotes: white space would be read back as a plain space. */
export function escapeXmlAttribute(text: string): string {
  return text.replaceAll(/[&<>"\t\n\r]/g, asNumber);
}

function asNumber(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}
