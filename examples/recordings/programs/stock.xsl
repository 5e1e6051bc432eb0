<?xml version="1.0"?>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Parts by what they are counted with, as a page. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:key name="by-place" match="count" use="@of"/>
  <xsl:template match="/stock">
    <page>
      <xsl:for-each select="//count[generate-id() = generate-id(key('by-place', @of)[1])]">
        <xsl:sort select="@of"/>
        <place name="{@of}" all="{sum(key('by-place', @of))}">
          <xsl:apply-templates select="key('by-place', @of)/.."/>
        </place>
      </xsl:for-each>
    </page>
  </xsl:template>
  <xsl:template match="part">
    <line><xsl:value-of select="concat(@id, ': ', substring(note, 1, 40))"/></line>
  </xsl:template>
</xsl:stylesheet>
